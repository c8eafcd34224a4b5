import Testing

@testable import RenderPool

@Suite("What a worker reads of memory") struct PressureReadingTests {
    private static func stall(_ average: Double, _ total: Int) -> String {
        let line = "avg10=\(average) avg60=0.00 avg300=0.00 total=\(total)\n"
        return "some \(line)full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    }

    @Test func `in a group of version 2 its limit, its counters and its stalls count`() throws {
        let group = "sys/fs/cgroup/minilab.service"
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "0::/minilab.service\n",
            "proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 600 kB\n",
            "proc/pressure/memory": Self.stall(1, 1),
            "\(group)/cgroup.events": "populated 1\n",
            "\(group)/memory.max": "max\n", "\(group)/memory.high": "100000\n",
            "\(group)/memory.current": "90000\n",
            "\(group)/memory.stat": "anon 20000\ninactive_file 60000\n",
            "\(group)/memory.events": "high 3\nmax 4\noom 5\noom_kill 6\n",
            "\(group)/memory.pressure": Self.stall(12.5, 2_000_000),
        ])
        let reading = kernel.files.reading()
        #expect(reading.group == PressureReading.Bound(limit: 100_000, used: 30_000))
        #expect(reading.machine == PressureReading.Bound(limit: 1_024_000, used: 409_600))
        #expect(
            reading.stall
                == PressureReading.Stall(average10: 0.125, total: .seconds(2), isOfGroup: true))
        #expect(reading.limitHits == 7)
        #expect(reading.kills == 6)
        #expect(!reading.isEmpty)
    }

    @Test func `a group of version 1 has its own limit, and the machine's stalls`() throws {
        let group = "sys/fs/cgroup/memory/box"
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "4:memory:/box\n0::/\n",
            "sys/fs/cgroup/unified/memory.pressure": Self.stall(20, 7),
            "\(group)/memory.limit_in_bytes": "100000\n",
            "\(group)/memory.usage_in_bytes": "90000\n",
            "\(group)/memory.stat": "total_inactive_file 40000\n",
            "\(group)/memory.failcnt": "8\n",
            "\(group)/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
        ])
        let reading = kernel.files.reading()
        #expect(reading.group == PressureReading.Bound(limit: 100_000, used: 50_000))
        #expect(reading.machine == nil)
        #expect(reading.stall?.average10 == 0.2)
        #expect(reading.stall?.isOfGroup == false)
        #expect(reading.limitHits == 8)
        #expect(reading.kills == 2)
    }

    @Test func `kills are counted where the process was, whosever limit it was`() throws {
        // Seen in a group of version 1 without a limit, in one with: the inner one counted the kill.
        let outer = "sys/fs/cgroup/memory/pod"
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "4:memory:/pod/box\n",
            "proc/vmstat": "pgfault 9\noom_kill 7\n",
            "\(outer)/memory.limit_in_bytes": "50331648\n",
            "\(outer)/memory.usage_in_bytes": "1\n", "\(outer)/memory.failcnt": "209\n",
            "\(outer)/memory.oom_control": "oom_kill 0\n",
            "\(outer)/box/memory.limit_in_bytes": "9223372036854771712\n",
            "\(outer)/box/memory.usage_in_bytes": "1\n", "\(outer)/box/memory.failcnt": "0\n",
            "\(outer)/box/memory.oom_control": "oom_kill 1\n",
        ])
        #expect(kernel.files.kills() == 1)
        let reading = kernel.files.reading()
        #expect((reading.kills, reading.limitHits) == (1, 209))
        #expect(reading.group?.limit == 50_331_648)
    }

    @Test func `without groups kills of the machine are counted, where the kernel tells them`()
        throws
    {
        let machine = try PlayedKernel(["proc/vmstat": "pgfault 9\noom_kill 7\n"])
        #expect(machine.files.kills() == 7)
        let silent = try PlayedKernel(["proc/vmstat": "pgfault 9\n"])
        #expect(silent.files.kills() == nil)
    }

    @Test func `a kernel that tells nothing calls for nothing`() throws {
        let reading = try PlayedKernel([:]).files.reading()
        #expect(reading.isEmpty)
        #expect(
            PressurePolicy().wanted(
                PressureSigns(reading, since: nil, over: .zero, window: .seconds(1))) == .calm)
    }
}
