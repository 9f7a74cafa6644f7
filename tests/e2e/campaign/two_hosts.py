"""Two machines that are none: network namespaces, each with a host name and an address of its own, joined to this
machine by a wire each that can be cut. Needs root, and a kernel that has them."""

import os
import subprocess

NAMES = ("node-a", "node-b")


def run(*words):
    return subprocess.run(words, text=True, capture_output=True, check=False)


def missing():
    """Why there can be none here; None if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = "barracuda-probe-%d" % os.getpid()
    try:
        made = run("ip", "netns", "add", name)
    except FileNotFoundError:
        return "there is no ip (Debian: apt-get install iproute2)"
    if made.returncode == 0:
        made = run("ip", "netns", "exec", name, "true")
        run("ip", "netns", "del", name)
    return None if made.returncode == 0 else "no network namespaces: %s" % made.stderr.strip()


class Host:
    def __init__(self, name, number):
        # Names of the whole machine: other tests may run beside this one. An interface's has 15 characters at most.
        self.name = name
        self.namespace = "barracuda-%d-%s" % (os.getpid(), name)
        self.wire = "bc%d%s" % (os.getpid() % 10 ** 8, name[-1])
        net = "10.%d.%d" % (200 + os.getpid() % 50, 2 * (os.getpid() // 50 % 120) + number)
        self.head, self.address = net + ".1", net + ".2"

    def words(self, *command):
        """What runs a command there."""
        return ["ip", "netns", "exec", self.namespace, "unshare", "--uts", "sh", "-c",
                'hostname %s; exec "$@"' % self.name, "sh", *command]

    def up(self):
        for words in (["netns", "add", self.namespace],
                      ["link", "add", self.wire, "type", "veth", "peer", "name", "wire", "netns", self.namespace],
                      ["addr", "add", self.head + "/24", "dev", self.wire], ["link", "set", self.wire, "up"],
                      ["-n", self.namespace, "addr", "add", self.address + "/24", "dev", "wire"],
                      ["-n", self.namespace, "link", "set", "wire", "up"],
                      ["-n", self.namespace, "link", "set", "lo", "up"]):
            done = run("ip", *words)
            if done.returncode != 0:
                raise RuntimeError("ip %s: %s" % (" ".join(words), done.stderr))

    def cut(self):
        run("ip", "link", "set", self.wire, "down")

    def mend(self):
        run("ip", "link", "set", self.wire, "up")

    def down(self):
        run("ip", "link", "del", self.wire)
        run("ip", "netns", "del", self.namespace)


class TwoHosts:
    def __enter__(self):
        self.hosts = [Host(name, number) for number, name in enumerate(NAMES)]
        for host in self.hosts:
            host.up()
        return self.hosts

    def __exit__(self, *_):
        for host in self.hosts:
            host.down()
