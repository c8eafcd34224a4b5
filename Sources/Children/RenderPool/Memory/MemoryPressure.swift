/// The time that tasks waited for memory ("pressure stall information").
struct MemoryPressure: Sendable, Equatable {
    /// The shares of time in which tasks were stalled.
    struct Stall: Sendable, Equatable {
        /// Over the last 10 s, in percent.
        let average10: Double
        /// Over the last 60 s, in percent.
        let average60: Double
        /// Over the last 300 s, in percent.
        let average300: Double
        /// The total since the creation of the group or the start of the machine.
        let total: Duration
    }

    /// The time in which at least one task was stalled.
    let some: Stall
    /// The time in which all non-idle tasks were stalled.
    let full: Stall
    /// Whether only tasks of the worker's control group are counted, not those of the whole machine.
    let isOfGroup: Bool

    /// Parses the kernel's text: `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`.
    init?(_ text: String, isOfGroup: Bool = false) {
        var stalls: [Substring: Stall] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if let name = fields.first { stalls[name] = Stall(fields.dropFirst()) }
        }
        guard let some = stalls["some"], let full = stalls["full"] else { return nil }
        self.some = some
        self.full = full
        self.isOfGroup = isOfGroup
    }
}

extension MemoryPressure.Stall {
    /// Parses `avg10=0.00 avg60=0.00 avg300=0.00 total=0`; the total is in microseconds.
    fileprivate init?(_ words: some Sequence<Substring>) {
        var fields: [Substring: Substring] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        func percent(_ name: Substring) -> Double? {
            fields[name].flatMap { Double($0) }.flatMap { (0...100).contains($0) ? $0 : nil }
        }
        guard let average10 = percent("avg10"), let average60 = percent("avg60"),
            let average300 = percent("avg300"), let total = fields["total"].flatMap({ Int64($0) }),
            total >= 0
        else { return nil }
        self.init(
            average10: average10, average60: average60, average300: average300,
            total: .microseconds(total))
    }
}

/// The memory of the whole machine, in bytes.
struct MachineMemory: Sendable, Equatable {
    /// The total.
    let total: Int
    /// The memory that processes could still get without swapping, by the kernel's own estimate.
    let available: Int

    /// Parses `/proc/meminfo`, with lines such as `MemTotal:       24684092 kB`.
    init?(_ text: String) {
        var lines: [Substring: Int] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(whereSeparator: { $0 == " " || $0 == ":" })
            if fields.count >= 2, let number = Int(fields[1]), (0..<1 << 50).contains(number) {
                lines[fields[0]] = number << 10
            }
        }
        guard let total = lines["MemTotal"], total > 0 else { return nil }
        self.total = total
        // Kernels before 3.14, and some sandboxes, do not report `MemAvailable`.
        available = min(total, lines["MemAvailable"] ?? lines["MemFree"] ?? 0)
    }
}

/// Parsers of the kernel's text formats.
enum KernelText {
    /// Parses a single number; nil for words, and for numbers outside 0 to 2^63 - 1.
    static func number(_ text: String) -> Int? {
        let line = text.prefix { $0 != "\n" }
        return Int(line).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Parses lines such as `oom_kill 3`; other lines are ignored.
    static func keyed(_ text: String) -> [String: Int] {
        var numbers: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count == 2, let number = number(String(fields[1])) {
                numbers[String(fields[0])] = number
            }
        }
        return numbers
    }
}
