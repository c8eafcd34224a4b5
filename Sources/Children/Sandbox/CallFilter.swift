import CMinilab
import Glibc

/// A filter of system calls: seccomp(2) with a program that is a list of rules.
///
/// A call that no rule names fails with ENOSYS, and so does every call that a later kernel adds. The kernel caches the calls that
/// are allowed with any arguments and does not run the program for them (Linux 5.11).
struct CallFilter {
    let program: [sock_filter]

    /// Installs the filter for all threads of this process and all threads that they start.
    static func enter(_ rules: [CallRule]) throws(SystemRefusal) {
        let program = CallFilter(rules).program
        try SystemRefusal.check(
            minilab_filter_calls(program, UInt16(program.count)), "seccomp")
    }

    init(_ rules: [CallRule]) {
        var program = FilterProgram()
        program.load(Offset.architecture)
        program.unless(minilab_audit_architecture(), .kill)
        program.load(Offset.number)
        #if arch(x86_64)
            // Calls of the x32 interface have the same numbers with this bit set.
            program.fromThereOn(0x4000_0000, .kill)
        #endif
        for rule in rules { program.add(rule) }
        program.end(.refuse(ENOSYS))
        self.program = program.instructions
    }

    /// Offsets of fields in struct seccomp_data.
    enum Offset {
        static let number: UInt32 = 0
        static let architecture: UInt32 = 4

        /// The offset of one half of an argument, on little-endian machines: Swift runs on no others.
        static func argument(_ index: Int, isHighHalf: Bool) -> UInt32 {
            UInt32(16 + 8 * index + (isHighHalf ? 4 : 0))
        }
    }
}

/// A program for the kernel's BPF machine: one test after the other.
private struct FilterProgram {
    private(set) var instructions: [sock_filter] = []

    private static let loadWord = UInt16(BPF_LD | BPF_W | BPF_ABS)
    private static let and = UInt16(BPF_ALU | BPF_AND | BPF_K)
    private static let jumpEqual = UInt16(BPF_JMP | BPF_JEQ | BPF_K)
    private static let jumpAtLeast = UInt16(BPF_JMP | BPF_JGE | BPF_K)
    private static let answer = UInt16(BPF_RET | BPF_K)

    private mutating func add(_ code: UInt16, _ value: UInt32, yes: Int = 0, no: Int = 0) {
        instructions.append(sock_filter(code: code, jt: UInt8(yes), jf: UInt8(no), k: value))
    }

    mutating func load(_ offset: UInt32) { add(Self.loadWord, offset) }
    mutating func end(_ answer: CallRule.Answer) { add(Self.answer, answer.value) }

    mutating func unless(_ value: UInt32, _ answer: CallRule.Answer) {
        add(Self.jumpEqual, value, yes: 1)
        end(answer)
    }

    mutating func fromThereOn(_ value: UInt32, _ answer: CallRule.Answer) {
        add(Self.jumpAtLeast, value, no: 1)
        end(answer)
    }

    /// Appends a rule. The program skips the rule for other calls; for its call, the rule always returns an answer.
    mutating func add(_ rule: CallRule) {
        var body = FilterProgram()
        for test in rule.tests { body.add(test, otherwise: rule.otherwise) }
        body.end(rule.answer)
        add(Self.jumpEqual, rule.number, no: body.instructions.count)
        instructions += body.instructions
    }

    private mutating func add(_ test: CallRule.Test, otherwise: CallRule.Answer) {
        load(CallFilter.Offset.argument(test.argument, isHighHalf: test.isHighHalf))
        if test.mask != .max { add(Self.and, test.mask) }
        for (index, value) in test.values.enumerated() {
            // Jump past the remaining values and the answer.
            add(Self.jumpEqual, value, yes: test.values.count - index)
        }
        end(otherwise)
    }
}

/// A rule for one system call of a confined process.
struct CallRule: Equatable {
    /// The kernel's answer to a call.
    enum Answer: Equatable {
        case allow
        case refuse(Int32)
        case kill

        var value: UInt32 {
            switch self {
            case .allow: UInt32(SECCOMP_RET_ALLOW)
            case .refuse(let error): UInt32(SECCOMP_RET_ERRNO) | UInt32(error)
            // SECCOMP_RET_KILL_PROCESS. Swift does not import this macro.
            case .kill: 0x8000_0000
            }
        }
    }

    /// A test of an argument: its low 32 bits, masked with `mask`, must equal one of `values`.
    ///
    /// The kernel reads all tested arguments as 32 bits, or requires that the high bits are zero; pointers are tested by both
    /// halves.
    struct Test: Equatable {
        let argument: Int
        var isHighHalf = false
        var mask: UInt32 = .max
        let values: [UInt32]
    }

    let number: UInt32
    /// The tests. If one of them fails, the answer is ``otherwise``.
    var tests: [Test] = []
    /// The answer if a test fails. Without tests, the answer is ``answer``.
    var otherwise: Answer = .refuse(EPERM)
    var answer: Answer = .allow

    init(_ number: Int32, _ answer: Answer = .allow) {
        self.number = UInt32(number)
        self.answer = answer
    }

    init(_ number: Int32, when tests: Test..., otherwise: Answer = .refuse(EPERM)) {
        self.number = UInt32(number)
        self.tests = tests
        self.otherwise = otherwise
    }
}

extension CallRule.Test {
    static func argument(_ index: Int, isOneOf values: [UInt32]) -> Self {
        Self(argument: index, values: values)
    }

    /// A test that of the bits of `mask` one of these sets is set.
    static func argument(_ index: Int, isOneOf values: [UInt32], of mask: UInt32) -> Self {
        Self(argument: index, mask: mask, values: values)
    }

    static func argument(_ index: Int, hasNone bits: UInt32) -> Self {
        Self(argument: index, mask: bits, values: [0])
    }

    /// A test that of the bits of `mask` exactly these are set.
    static func argument(_ index: Int, has bits: UInt32, of mask: UInt32) -> Self {
        Self(argument: index, mask: mask, values: [bits])
    }
}
