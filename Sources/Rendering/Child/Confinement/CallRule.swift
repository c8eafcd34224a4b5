import CConfinement
import Glibc

/// What the kernel does with one system call of a confined process.
struct CallRule: Equatable {
    /// What becomes of a call.
    enum Answer: Equatable {
        case allow
        /// It fails with this error.
        case refuse(Int32)
        /// The process ends by SIGSYS.
        case kill

        /// As a filter returns it.
        var value: UInt32 {
            switch self {
            case .allow: UInt32(SECCOMP_RET_ALLOW)
            case .refuse(let error): UInt32(SECCOMP_RET_ERRNO) | UInt32(error)
            // SECCOMP_RET_KILL_PROCESS, which Swift does not import.
            case .kill: 0x8000_0000
            }
        }
    }

    /// What an argument has to be: of its low 32 bits those of `mask` are one of `values`.
    ///
    /// The kernel reads all arguments that are tested as 32 bits, or nothing above them; pointers are tested by
    /// both halves.
    struct Test: Equatable {
        let argument: Int
        var isHighHalf = false
        var mask: UInt32 = .max
        let values: [UInt32]
    }

    let number: UInt32
    /// All of them must hold, or ``otherwise`` is the answer.
    var tests: [Test] = []
    /// When a test fails; nil when there is none, and then it is ``answer``.
    var otherwise: Answer = .refuse(EPERM)
    var answer: Answer = .allow

    init(_ number: Int32, _ answer: Answer = .allow) {
        self.number = UInt32(number)
        self.answer = answer
    }

    /// A call that is allowed with such arguments.
    init(_ number: Int32, when tests: Test..., otherwise: Answer = .refuse(EPERM)) {
        self.number = UInt32(number)
        self.tests = tests
        self.otherwise = otherwise
    }
}

extension CallRule.Test {
    /// The argument is one of these.
    static func argument(_ index: Int, isOneOf values: [UInt32]) -> Self {
        Self(argument: index, values: values)
    }

    /// None of these bits is set.
    static func argument(_ index: Int, hasNone bits: UInt32) -> Self {
        Self(argument: index, mask: bits, values: [0])
    }

    /// Of the bits of `mask`, these are set and no other.
    static func argument(_ index: Int, has bits: UInt32, of mask: UInt32) -> Self {
        Self(argument: index, mask: mask, values: [bits])
    }
}
