import Testing

@testable import RenderPool

@Suite("Memory budget") struct MemoryBudgetTests {
    private static let gigabyte = 1 << 30
    private static let megabyte = 1 << 20

    private func decide(
        setting: Int? = nil, limit: Int? = nil, used: Int = 0, available: Int? = 16 * gigabyte
    ) throws -> MemoryBudget {
        try MemoryBudget(setting: setting, limit: limit, used: used, available: available)
    }

    @Test func `what the operator says is taken as it is`() throws {
        let budget = try decide(setting: 20 * Self.gigabyte, limit: Self.gigabyte)
        #expect(budget == MemoryBudget(bytes: 20 * Self.gigabyte, source: .setting))
    }

    @Test func `of a group's limit the worker and an eighth for the page cache are kept back`()
        throws
    {
        let budget = try decide(limit: 512 * Self.megabyte, used: 10 * Self.megabyte)
        #expect(budget.bytes == (512 - 64 - 64) * Self.megabyte)
        #expect(budget.source == .group(limit: 512 * Self.megabyte, used: 10 * Self.megabyte))
    }

    @Test func `of a group's limit what neighbours hold is kept back, too`() throws {
        let budget = try decide(limit: 512 * Self.megabyte, used: 200 * Self.megabyte)
        #expect(budget.bytes == (512 - 200 - 32 - 64) * Self.megabyte)
    }

    @Test func `without a limit half of what the machine has available is used`() throws {
        let budget = try decide()
        #expect(budget.bytes == 8 * Self.gigabyte)
        #expect(budget.source == .machine(available: 16 * Self.gigabyte))
    }

    @Test func `a limit above what the machine has bounds nothing`() throws {
        #expect(
            try decide(limit: 100 * Self.gigabyte).source
                == .machine(available: 16 * Self.gigabyte))
    }

    @Test func `a budget that cannot hold one child is refused with the figures`() throws {
        let error = #expect(throws: MemoryBudgetError.self) {
            try decide(limit: 128 * Self.megabyte, used: 40 * Self.megabyte)
        }
        let words = try #require(error?.description)
        #expect(words.contains("limit is 134 MB"))
        #expect(words.contains("42 MB are in use"))
        #expect(words.contains("one child needs at least 67 MB"))
        #expect(words.contains("--memory"))
        #expect(throws: MemoryBudgetError.self) { try decide(setting: 1) }
        #expect(throws: MemoryBudgetError.self) { try decide(limit: 0) }
    }

    @Test func `a machine that says nothing needs the operator's word`() throws {
        let error = #expect(throws: MemoryBudgetError.self) { try decide(available: nil) }
        #expect(error?.description.contains("--memory") == true)
        #expect(try decide(setting: Self.gigabyte, available: nil).bytes == Self.gigabyte)
    }

    @Test func `it is read from the kernel's files`() throws {
        let kernel = try PlayedKernel([
            "proc/self/cgroup": "0::/a\n",
            "proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n",
            "sys/fs/cgroup/a/memory.max": "536870912\n",
            "sys/fs/cgroup/a/memory.current": "209715200\n",
            "sys/fs/cgroup/a/memory.stat": "inactive_file 104857600\n",
        ])
        let budget = try MemoryBudget(setting: nil, files: kernel.files)
        #expect(budget.source == .group(limit: 512 << 20, used: 100 << 20))
        #expect(budget.bytes == (512 - 132 - 64) << 20)
    }

    @Test func `it says for people what it is and why`() throws {
        #expect(
            try decide(limit: 512_000_000, used: 10_000_000).description
                == "381 MB for render children: the control group's limit is 512 MB, 10 MB are in use, "
                + "and the worker and the page cache need their part")
    }
}
