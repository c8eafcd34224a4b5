import CMinilab
import Edits
import Files
import Glibc
public import RenderProtocol
import Sandbox

/// The main loop of a text child: as a render child's, with texts and their fonts instead of photos.
///
/// It is a program of its own: it links no library that reads photos, so a hostile font meets neither a photo nor their decoders, and
/// it starts in a tenth of the time.
public enum TextChild {
    /// Runs until the socket's other end is closed.
    ///
    /// Before it reads a request, the process drops all rights that drawing a text does not need (``ConfinedProcess``): it opens no
    /// file from then on.
    public static func run() -> RenderExit {
        minilab_exit_without_memory(RenderExit.outOfMemory.rawValue)
        // While libthai's list can be opened. It starts no thread.
        guard TextRaster.prepare() else { return .outOfMemory }
        let prepared = ConfinedProcess.prepare(.texts)
        signal(SIGPIPE, SIG_IGN)
        let confinement = Confinement(
            gaps: prepared
                + ConfinedProcess.enter(serial: Int(getpid()), .texts, TextLimits.ofLife))
        Heap.leaveCodeOfStart()
        var requests = RequestReader(DescriptorSocket(adopting: STDIN_FILENO))
        var raster = TextRaster()
        do throws(BadRequest) {
            while let reply = try nextReply(&requests, &raster, confinement) {
                guard ChildAnswers.send(reply) else { return .orphaned }
            }
        } catch {
            ChildAnswers.complain(error.description)
            return .badRequest
        }
        return .finished
    }

    /// Waits for a request and returns its reply, or nil at the end. The request's files are closed by then: the worker counts a
    /// file that is still open after the answer as kept.
    private static func nextReply(
        _ requests: inout RequestReader, _ raster: inout TextRaster, _ confinement: Confinement
    ) throws(BadRequest) -> RenderReply? {
        guard let (request, files) = try requests.next() else { return nil }
        return RenderReply(
            to: request.number, reply(to: request, files, by: &raster, confinement))
    }

    private static func reply(
        to request: RenderRequest, _ files: RenderFiles, by raster: inout TextRaster,
        _ confinement: Confinement
    ) -> RenderReply.Content {
        do throws(Failure) {
            switch request.work {
            case .confinement: return .confined(confinement)
            case .libraries: return .libraries(TextRaster.libraries)
            case .text(let text):
                TextLimits.enter()
                return .drawn(try raster.draw(text, files))
            case .inspect, .render, .contactSheet, .tryFormat:
                throw Failure(.internalError, "a text child draws texts alone. Report this.")
            }
        } catch {
            return .failed(error)
        }
    }
}

/// The kernel's limits of a text child. Memory and the length of files are hard and hold for its life; its worker's clock stands
/// behind the processor time.
private enum TextLimits {
    /// Private memory: fonts of 48 MB, their tables as HarfBuzz keeps them, and three planes of coverage.
    private static let dataBytes = 96 << 20
    /// Addresses for private memory, fonts and coverage, and the reserves of allocators: tables of 4 MB.
    private static let addressRoom = 2 << 30
    /// Processor time of one text. 400 harmed fonts took at most 0.05 s each.
    private static let seconds = 1

    static let ofLife = LifeLimits(
        dataBytes: dataBytes, addressRoom: addressRoom,
        fileBytes: TextRequest.coverageBytesMax)

    /// Sets the limit of processor time for the next text. It is soft, because seconds add up over the child's life.
    static func enter() {
        let used = Int(ProcessUsage.limitedSeconds.rounded(.up))
        let more = Int(
            (ProcessorSpeed.here.scaled(.seconds(seconds)) / .seconds(1)).rounded(.up))
        let resource = __rlimit_resource_t(RLIMIT_CPU.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = min(rlim_t(used + more), limit.rlim_max)
        setrlimit(resource, &limit)
    }
}
