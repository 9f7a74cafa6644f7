from barracuda import main

main()
