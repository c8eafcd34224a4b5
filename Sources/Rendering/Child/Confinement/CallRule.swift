import CMinilab
import Glibc

/// A rule for one system call of a confined process.
struct CallRule: Equatable {
    /// The kernel's answer to a call.
    enum Answer: Equatable {
        case allow
        /// The call fails with this error.
        case refuse(Int32)
        /// The process is killed by SIGSYS.
        case kill

        /// The filter's return value.
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

    /// Creates a rule that allows a call with such arguments.
    init(_ number: Int32, when tests: Test..., otherwise: Answer = .refuse(EPERM)) {
        self.number = UInt32(number)
        self.tests = tests
        self.otherwise = otherwise
    }
}

extension CallRule.Test {
    /// A test that the argument is one of these values.
    static func argument(_ index: Int, isOneOf values: [UInt32]) -> Self {
        Self(argument: index, values: values)
    }

    /// A test that none of these bits is set.
    static func argument(_ index: Int, hasNone bits: UInt32) -> Self {
        Self(argument: index, mask: bits, values: [0])
    }

    /// A test that of the bits of `mask` exactly these are set.
    static func argument(_ index: Int, has bits: UInt32, of mask: UInt32) -> Self {
        Self(argument: index, mask: mask, values: [bits])
    }
}
