/// How long tasks waited for memory ("pressure stall information").
struct MemoryPressure: Sendable, Equatable {
    /// Shares of time in which tasks stood still.
    struct Stall: Sendable, Equatable {
        /// Over the last 10 s, in percent.
        let average10: Double
        /// Over the last 60 s, in percent.
        let average60: Double
        /// Over the last 300 s, in percent.
        let average300: Double
        /// Since the group or the machine exists.
        let total: Duration
    }

    /// At least one task stood still.
    let some: Stall
    /// All tasks that were not idle stood still.
    let full: Stall
    /// Whether tasks of our group are counted alone, not those of the whole machine.
    let isOfGroup: Bool

    /// Reads the kernel's text: `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`.
    init?(_ text: String, isOfGroup: Bool = false) {
        var stalls: [Substring: Stall] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let name = words.first { stalls[name] = Stall(words.dropFirst()) }
        }
        guard let some = stalls["some"], let full = stalls["full"] else { return nil }
        self.some = some
        self.full = full
        self.isOfGroup = isOfGroup
    }
}

extension MemoryPressure.Stall {
    /// Reads `avg10=0.00 avg60=0.00 avg300=0.00 total=0`; the total is in microseconds.
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

/// Memory of the whole machine, in bytes.
struct MachineMemory: Sendable, Equatable {
    /// All that there is.
    let total: Int
    /// What processes could still get without swapping, by the kernel's own estimate.
    let available: Int

    /// Reads `/proc/meminfo`, whose lines are such as `MemTotal:       24684092 kB`.
    init?(_ text: String) {
        var lines: [Substring: Int] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
            if words.count >= 2, let number = Int(words[1]), (0..<1 << 50).contains(number) {
                lines[words[0]] = number << 10
            }
        }
        guard let total = lines["MemTotal"], total > 0 else { return nil }
        self.total = total
        // Kernels before 3.14, and some sandboxes, do not tell what is available.
        available = min(total, lines["MemAvailable"] ?? lines["MemFree"] ?? 0)
    }
}

/// Texts as the kernel writes them.
enum KernelText {
    /// A number alone; nil for words, and for what is not from 0 to 2^63 - 1.
    static func number(_ text: String) -> Int? {
        let line = text.prefix { $0 != "\n" }
        return Int(line).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Lines such as `oom_kill 3`; others are left out.
    static func keyed(_ text: String) -> [String: Int] {
        var numbers: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let number = number(String(words[1])) {
                numbers[String(words[0])] = number
            }
        }
        return numbers
    }
}
