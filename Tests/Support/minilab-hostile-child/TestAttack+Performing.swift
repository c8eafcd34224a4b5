import Edits
import CHostile
import Files
import Glibc
import MinilabTesting
import RenderProtocol
import Codecs

extension TestAttack {
    /// What it tries is larger than any limit of a small photo, and smaller than a machine's memory.
    private static let muchBytes = 8 << 30
    private static let pieceBytes = 1 << 20
    /// More than a small photo's render may take, by far.
    private static let takenBytes = 800 << 20

    /// Does what is to happen while a header is read.
    func doInHeader() {
        guard self == .spinInHeader else { return }
        while true {}
    }

    /// Does what is to happen while a photo is rendered.
    ///
    /// - Returns: `ioFailure` with the kernel's message when it was denied, `internalError` when it was done.
    func doInRender(_ files: RenderFiles) -> Failure? {
        guard ![.spinInHeader, .crashInWebP, .crashInBitDepth].contains(self) else { return nil }
        guard ![.keepFile, .makeThreads].contains(self) else {
            prepareToStay(files)
            return nil
        }
        errno = 0
        guard attempt(files) else {
            return Failure(.ioFailure, "\(rawValue): \(String(cString: strerror(errno)))")
        }
        return Failure(.internalError, "\(rawValue): done")
    }

    private func attempt(_ files: RenderFiles) -> Bool {
        // Sentences call it by its path; a worker hands over an asset's.
        let photo = files.sources[0].name
        switch self {
        case .readPasswd: return open("/etc/passwd", O_RDONLY) >= 0
        case .writeBesidePhoto: return open(photo + ".new", O_WRONLY | O_CREAT, 0o600) >= 0
        case .removePhoto: return unlink(photo) == 0
        case .changeMode: return chmod(photo, 0o777) == 0
        case .linkPhoto: return link(photo, photo + ".link") == 0
        case .openSocket: return socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0
        case .openLocalSocket: return socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) >= 0
        case .fork:
            let child = hostile_fork()
            if child == 0 { _exit(0) }
            return child > 0
        case .signalWorker: return kill(getppid(), 0) == 0
        case .limitWorker: return hostile_limit(getppid()) == 0
        case .useSpool: return hostile_use_spool(files.spool?.descriptor ?? -1)
        case .exec:
            execl("/bin/true")
            return false
        case .trace: return hostile_trace(getppid()) == 0
        case .growFile: return hostile_grow(files.outputs[0].descriptor, Self.longestFile) == 0
        case .liftLimits: return hostile_lift_limits() == 0
        case .takeMemory: return hostile_take_memory(Self.takenBytes) == 0
        case .spinInHeader, .crashInWebP, .crashInBitDepth, .keepFile, .makeThreads: return false
        case .exhaustSwift:
            UnsafeMutableRawPointer.allocate(byteCount: Self.muchBytes, alignment: 16).deallocate()
            return true
        case .exhaustGLib:
            VipsLibrary.exhaustMemory(Self.muchBytes)
            return true
        case .exhaustCPlusPlus:
            hostile_exhaust_memory(Self.muchBytes)
            return true
        case .fillDisk: return Self.write(Self.muchBytes, to: files.outputs[0])
        case .abort: Glibc.abort()
        }
    }

    /// Does what is to last after a correct answer.
    private func prepareToStay(_ files: RenderFiles) {
        if self == .keepFile { _ = dup(files.outputs[0].descriptor) }
        if self == .makeThreads { Self.threads }
    }

    /// More threads than any render has, made once. The process ends if the kernel refuses them: children of one user share a limit.
    private static let threads: Void = {
        withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { small in
            guard let small = small.baseAddress else { return }
            pthread_attr_init(small)
            // Many fit into the child's limit of memory.
            pthread_attr_setstacksize(small, 65_536)
            var thread = pthread_t()
            for _ in 0..<100
            where pthread_create(&thread, small, { _ in while true { pause() } }, nil) != 0 {
                Glibc.abort()
            }
        }
    }()

    /// More than the largest movie has; all of it a hole.
    private static let longestFile = 1 << 40

    private func execl(_ path: String) {
        path.withCString { path in
            var arguments: [UnsafeMutablePointer<CChar>?] = [
                UnsafeMutablePointer(mutating: path), nil,
            ]
            execv(path, &arguments)
        }
    }

    private static func write(_ count: Int, to file: OpenFile) -> Bool {
        // A hole: nothing is written until the limit, and the disk stays as it is.
        let bytes = [UInt8](repeating: 7, count: pieceBytes)
        for offset in stride(from: 0, to: count, by: 64 * pieceBytes)
        where pwrite(file.descriptor, bytes, bytes.count, off_t(offset)) < 0 {
            return false
        }
        return true
    }
}
