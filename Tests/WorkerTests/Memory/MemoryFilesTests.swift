import SystemPackage
import Testing

@testable import RenderPool

@Suite("Memory files") struct MemoryFilesTests {
    private static let calm = """
        some avg10=0.00 avg60=0.00 avg300=0.00 total=0
        full avg10=0.00 avg60=0.00 avg300=0.00 total=0

        """
    private static let stalled = """
        some avg10=12.34 avg60=5.00 avg300=1.50 total=2000000
        full avg10=1.00 avg60=0.50 avg300=0.25 total=1500

        """

    @Test func `version 2 is read in the process's own group`() throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "0::/work/minilab.service\n",
            "sys/fs/cgroup/work/minilab.service/memory.max": "536870912\n",
            "sys/fs/cgroup/work/minilab.service/memory.high": "max\n",
            "sys/fs/cgroup/work/minilab.service/memory.current": "104857600\n",
            "sys/fs/cgroup/work/minilab.service/memory.stat":
                "anon 7\ninactive_file 4857600\n",
            "sys/fs/cgroup/work/minilab.service/memory.events":
                "low 9\nhigh 2\nmax 3\noom 1\noom_kill 4\n",
            "sys/fs/cgroup/work/minilab.service/memory.pressure": Self.stalled,
            "proc/pressure/memory": Self.calm,
        ])
        let group = try #require(kernel.files.group())
        #expect(group.version == .two)
        #expect(group.limit == 512 << 20)
        #expect(
            kernel.files.use(of: group) == MemoryUse(bytes: 104_857_600, cacheBytes: 4_857_600))
        #expect(kernel.files.use(of: group)?.unreclaimableBytes == 100_000_000)
        #expect(kernel.files.events(of: group) == MemoryEvents(limitHits: 5, kills: 4))
        let pressure = try #require(kernel.files.pressure())
        #expect(pressure.some.average10 == 12.34)
        #expect(pressure.some.total == .seconds(2))
        #expect(pressure.full.average300 == 0.25)
        #expect(pressure.full.total == .microseconds(1500))
    }

    @Test func `version 1 is read in the process's own group`() throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/minilab\n",
            "sys/fs/cgroup/memory/minilab/memory.limit_in_bytes": "67108864\n",
            "sys/fs/cgroup/memory/minilab/memory.usage_in_bytes": "50000000\n",
            "sys/fs/cgroup/memory/minilab/memory.stat":
                "inactive_file 1\ntotal_inactive_file 20000000\n",
            "sys/fs/cgroup/memory/minilab/memory.failcnt": "17\n",
            "sys/fs/cgroup/memory/minilab/memory.oom_control":
                "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            "proc/pressure/memory": Self.stalled,
        ])
        let group = try #require(kernel.files.group())
        #expect(group.version == .one)
        #expect(group.limit == 64 << 20)
        #expect(kernel.files.use(of: group)?.unreclaimableBytes == 30_000_000)
        #expect(kernel.files.events(of: group) == MemoryEvents(limitHits: 17, kills: 2))
        #expect(kernel.files.pressure()?.some.average10 == 12.34)
    }

    @Test func `a hybrid has its limit in version 1 and its pressure in version 2`() throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "4:memory:/a\n0::/b\n",
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1000000\n",
            "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "1\n",
            "sys/fs/cgroup/unified/b/memory.pressure": Self.stalled,
            "proc/pressure/memory": Self.calm,
        ])
        #expect(kernel.files.group()?.limit == 1_000_000)
        #expect(kernel.files.pressure()?.some.average60 == 5)
    }

    @Test func `a hybrid may have its limit in version 2, too`() throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "4:cpu:/a\n0::/b\n",
            "sys/fs/cgroup/unified/b/memory.max": "2000000\n",
            "sys/fs/cgroup/unified/b/memory.current": "1\n",
        ])
        #expect(kernel.files.group()?.limit == 2_000_000)
    }

    @Test func `the smallest limit of a group and those around it counts`() throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "0::/pod/box\n",
            "sys/fs/cgroup/pod/box/memory.max": "300\n",
            "sys/fs/cgroup/pod/box/memory.current": "1\n",
            "sys/fs/cgroup/pod/memory.max": "200\n",
            "sys/fs/cgroup/pod/memory.current": "150\n",
            "sys/fs/cgroup/memory.pressure": Self.calm,
        ])
        let group = try #require(kernel.files.group())
        #expect(group.folder == "sys/fs/cgroup/pod")
        #expect(group.limit == 200)
        #expect(kernel.files.use(of: group)?.bytes == 150)
    }

    @Test func `memory dot high is a limit`() throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "300\n",
            "sys/fs/cgroup/memory.high": "100\n", "sys/fs/cgroup/memory.current": "1\n",
        ])
        #expect(kernel.files.group()?.limit == 100)
    }

    @Test(arguments: ["4:memory:/docker/0123abcd\n", "0::/docker/0123abcd\n", "0::/../other\n"])
    func `a container that shows its group as the root is read there`(groups: String) throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": groups,
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "300\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
            "sys/fs/cgroup/memory.max": "300\n",
            "sys/fs/cgroup/memory.current": "1\n",
            "sys/fs/cgroup/memory.pressure": Self.stalled,
        ])
        #expect(kernel.files.group()?.limit == 300)
    }

    @Test(arguments: ["max", "", "-1", "lots", "9223372036854771712", "99999999999999999999"])
    func `a group without a limit has none`(text: String) throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": text + "\n",
            "sys/fs/cgroup/a/memory.current": text + "\n",
        ])
        let group = try #require(kernel.files.group())
        #expect(group.folder == "sys/fs/cgroup/a")
        #expect(group.limit == nil)
    }

    @Test func `without any file nothing is known and nothing fails`() throws {
        let files = try PlayedKernel([:]).files
        #expect(files.group() == nil)
        #expect(files.machine() == nil)
        #expect(files.pressure() == nil)
        let group = MemoryGroup(version: .two, folder: "sys/fs/cgroup/gone", limit: 1)
        #expect(files.use(of: group) == nil)
        #expect(files.events(of: group) == nil)
    }

    @Test func `a file that is a folder, or far too long, is as good as none`() throws {
        let kernel = try PlayedKernel([
            "proc/meminfo/oops": "", "proc/pressure/memory": String(repeating: "x", count: 1 << 20),
        ])
        #expect(kernel.files.machine() == nil)
        #expect(kernel.files.pressure() == nil)
    }

    @Test func `the machine tells what it has and what is left`() throws {
        let machine = try #require(
            MachineMemory("MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable:    500 kB\n"))
        #expect(machine.total == 1_024_000)
        #expect(machine.available == 512_000)
        #expect(MachineMemory("MemTotal: 1000 kB\nMemFree: 10 kB\n")?.available == 10_240)
        #expect(MachineMemory("MemTotal: 10 kB\nMemAvailable: 500 kB\n")?.available == 10_240)
        #expect(MachineMemory("MemTotal: 99999999999999999999 kB\n") == nil)
        #expect(MachineMemory("MemTotal: 0 kB\n") == nil)
        #expect(MachineMemory("") == nil)
    }

    @Test(arguments: [
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "some avg10=nan avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "some avg10=900 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "some avg10=0 avg60=0.00 avg300=0.00 total=-5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "some\nfull\n",
    ])
    func `pressure that is not as the kernel writes it is not known`(text: String) {
        #expect(MemoryPressure(text) == nil)
    }

    @Test func `this machine tells its memory`() throws {
        let machine = try #require(MemoryFiles().machine())
        #expect(machine.available > 0 && machine.available <= machine.total)
    }
}
