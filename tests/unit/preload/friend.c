// Two libraries of one name: the plug-in's own, and one that lies beside libbarracuda.so.
int barracuda_test_number(void) { return FRIEND_NUMBER; }
