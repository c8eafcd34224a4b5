import CConfinement
import Glibc

/// Which system calls are refused: seccomp(2) with a program that is a list of numbers.
///
/// A list of what is denied, not of what is allowed: GLib, libvips, OpenMP and eight codecs make other calls with
/// each version and kernel, and a decoder that dies of a harmless one loses good photos. What is denied are
/// the ways out of the process; of what is inside of it a decoder that is taken over has all in any case.
struct CallFilter {
    let program: [sock_filter]

    /// Enters it, for this thread and all that it starts.
    static func enter() throws(SystemRefusal) {
        let program = CallFilter(process: UInt32(getpid())).program
        try SystemRefusal.check(
            minilab_filter_calls(program, UInt16(program.count)), "PR_SET_SECCOMP")
    }

    /// Builds it.
    ///
    /// - Parameter process: who may be sent signals: ourselves.
    init(process: UInt32) {
        var program = Assembler()
        program.load(Offset.architecture)
        program.whenNot(minilab_audit_architecture(), .kill)
        program.load(Offset.number)
        #if arch(x86_64)
            // Calls of the x32 interface are others with the same numbers.
            program.whenAtLeast(0x4000_0000, .kill)
        #endif
        for number in DeniedCalls.deadly { program.when(number, .kill) }
        for number in DeniedCalls.denied { program.when(number, .refuse(EPERM)) }
        // The C library takes clone then, whose flags a filter can read.
        program.when(DeniedCalls.clone3, .refuse(ENOSYS))
        program.when(DeniedCalls.clone, thenUnlessFlag: Self.cloneThread, .refuse(EPERM))
        for number in DeniedCalls.aimedAtProcess {
            program.when(number, thenUnlessFirstIs: [process], .refuse(EPERM))
        }
        program.when(DeniedCalls.prlimit, thenUnlessFirstIs: [0, process], .refuse(EPERM))
        program.end(.allow)
        self.program = program.instructions
    }

    /// CLONE_THREAD: a thread of ours, not a process.
    private static let cloneThread: UInt32 = 0x0001_0000

    /// Where things are in struct seccomp_data.
    private enum Offset {
        static let number: UInt32 = 0
        static let architecture: UInt32 = 4
        /// The low half of the first argument, on machines that put it first: all that Swift runs on.
        static let first: UInt32 = 16
    }

    /// What becomes of a call.
    enum Verdict {
        case allow
        /// It fails with this error.
        case refuse(Int32)
        /// The process ends by SIGSYS.
        case kill

        var value: UInt32 {
            switch self {
            case .allow: UInt32(SECCOMP_RET_ALLOW)
            case .refuse(let error): UInt32(SECCOMP_RET_ERRNO) | UInt32(error)
            case .kill: 0x8000_0000
            }
        }
    }

    /// Writes a program for the kernel's packet filter machine, one test after the other.
    private struct Assembler {
        var instructions: [sock_filter] = []

        private static let loadWord = UInt16(BPF_LD | BPF_W | BPF_ABS)
        private static let jumpEqual = UInt16(BPF_JMP | BPF_JEQ | BPF_K)
        private static let jumpAtLeast = UInt16(BPF_JMP | BPF_JGE | BPF_K)
        private static let jumpAnyBit = UInt16(BPF_JMP | BPF_JSET | BPF_K)
        private static let answer = UInt16(BPF_RET | BPF_K)

        private mutating func add(
            _ code: UInt16, _ value: UInt32, yes: UInt8 = 0, no: UInt8 = 0
        ) {
            instructions.append(sock_filter(code: code, jt: yes, jf: no, k: value))
        }

        mutating func load(_ offset: UInt32) { add(Self.loadWord, offset) }
        mutating func end(_ verdict: Verdict) { add(Self.answer, verdict.value) }

        mutating func when(_ value: UInt32, _ verdict: Verdict) {
            add(Self.jumpEqual, value, no: 1)
            end(verdict)
        }

        mutating func whenNot(_ value: UInt32, _ verdict: Verdict) {
            add(Self.jumpEqual, value, yes: 1)
            end(verdict)
        }

        mutating func whenAtLeast(_ value: UInt32, _ verdict: Verdict) {
            add(Self.jumpAtLeast, value, no: 1)
            end(verdict)
        }

        /// For a call whose first argument is not one of `allowed`.
        mutating func when(
            _ number: UInt32, thenUnlessFirstIs allowed: [UInt32], _ verdict: Verdict
        ) {
            let tests = UInt8(allowed.count)
            // Past: the load, the tests, both answers.
            add(Self.jumpEqual, number, no: tests + 3)
            load(Offset.first)
            for (index, value) in allowed.enumerated() {
                add(Self.jumpEqual, value, yes: tests - UInt8(index))
            }
            end(verdict)
            end(.allow)
        }

        /// For a call whose first argument has not this bit.
        mutating func when(
            _ number: UInt32, thenUnlessFlag flag: UInt32, _ verdict: Verdict
        ) {
            add(Self.jumpEqual, number, no: 4)
            load(Offset.first)
            add(Self.jumpAnyBit, flag, yes: 1)
            end(verdict)
            end(.allow)
        }
    }
}
