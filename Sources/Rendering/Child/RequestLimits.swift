import Edits
import Glibc
import RenderProtocol
import Sandbox

/// Kernel limits for one request. They are a backstop behind the plan and the worker's timeout: they stop a runaway decoder on a
/// machine whose worker is busy or stopped.
///
/// They are soft limits, set again for each request. A child that is taken over can raise them: the length of a file up to
/// ``seal(for:)``, private memory up to the budget of all renders (``LifeLimits``). The worker ends a child that holds more than its
/// request may take, stops a child between requests, and kills it when a request takes too long. Seconds of processor time have no
/// hard limit, because they add up over a child's life, and a child may render hours of movies.
struct RequestLimits: Equatable {
    /// Seconds of processor time from now on, or nil. Exceeding it raises SIGXCPU.
    var cpuSeconds: Int?
    /// Bytes of private memory beyond the current usage, or nil. Beyond it, allocations fail.
    var dataBytes: Int?
    /// Length of a file in bytes, or nil. Exceeding it raises SIGXFSZ.
    var fileBytes: Int?

    init(cpuSeconds: Int? = nil) { self.cpuSeconds = cpuSeconds }

    /// The limits until the plan is known. A header is read in milliseconds; statistics for an automatic filter need all pixels.
    static func beforePlan(
        of request: RenderRequest, at speed: ProcessorSpeed
    ) -> RequestLimits {
        switch request.work {
        case .inspect(let photo), .render(let photo):
            RequestLimits(
                cpuSeconds: photo.recipe.isAutomatic
                    ? nil : wholeSeconds(speed.scaled(headerTime)))
        case .contactSheet, .confinement, .tryFormat, .libraries, .text: RequestLimits()
        }
    }

    /// The reference processor time within which a header must be read. A loop in a header's reader ends within 5 s of a core.
    private static let headerTime: Duration = .seconds(4)

    private static func wholeSeconds(_ time: Duration) -> Int {
        Int((time / .seconds(1)).rounded(.up))
    }

    /// The limits for a plan: its estimate, and a margin for errors of the estimate.
    ///
    /// - Parameters:
    ///   - estimate: the estimate for the photo at full size, also for a small copy of it.
    ///   - renditionPixels: the pixels of the largest rendition.
    ///   - sourceBytes: length of the photo's file.
    ///   - speed: the speed of this process.
    init(
        _ plan: RenderPlan, estimate: RenderEstimate, renditionPixels: Int = 0, sourceBytes: Int,
        at speed: ProcessorSpeed
    ) {
        cpuSeconds = Self.wholeSeconds(estimate.cpuLimit(at: speed)) * max(1, plan.threads)
        dataBytes =
            estimate.memoryBytes * Self.dataFactor + Self.dataReserve
            + plan.threads * Self.threadBytes
        let written =
            plan.movie == nil
            ? plan.resultSize.pixels * Self.pixelBytesMax : Self.movieFactor * sourceBytes
        // The frames of the video and the movie made of them are written before the photo.
        let video = plan.motionVideo != nil ? 2 * Self.movieFactor * sourceBytes : 0
        fileBytes =
            max(written + video, renditionPixels * Self.pixelBytesMax, estimate.spoolBytes)
            + sourceBytes + Self.fileReserve
    }

    /// RLIMIT_DATA counts mapped memory, part of which is never touched: stacks, the heaps of threads.
    private static let dataFactor = 2
    private static let dataReserve = 256 << 20
    /// The stacks of a thread of libvips and of a thread that computes rows (glibc: 8 MiB each, the value of RLIMIT_STACK).
    private static let threadBytes = 16 << 20
    /// Bytes of a pixel in the largest format that is written or spooled: four floats.
    private static let pixelBytesMax = 16
    /// A movie's encoder is bounded by twice the source's rate.
    private static let movieFactor = 3
    private static let fileReserve = 64 << 20

    /// Sets the hard limit of the length of a file, before a decoder opens the first photo: no later photo can raise it.
    static func seal(for request: RenderRequest) {
        switch request.work {
        case .inspect(let photo), .render(let photo): seal(at: fileBytesMax(photo.limits))
        case .contactSheet(let sheet): seal(at: fileBytesMax(sheet.limits))
        case .confinement, .tryFormat, .libraries, .text: break
        }
    }

    /// The longest file that a render within these limits may write: the largest rendition, or the parts and the movie that are
    /// made of the largest source; or the largest spool.
    static func fileBytesMax(_ limits: RenderLimits) -> Int {
        max(
            RenditionPlan.pixelsFactor * limits.pixelsMax * pixelBytesMax,
            3 * movieFactor * limits.bytesMax, limits.spoolMax)
            + limits.bytesMax + fileReserve
    }

    private static func seal(at bytes: Int) {
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_max = min(limit.rlim_max, rlim_t(bytes))
        limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max)
        setrlimit(resource, &limit)
    }

    /// Applies the limits.
    func enter() {
        Self.set(RLIMIT_CPU, cpuSeconds.map { Int(ProcessUsage.limitedSeconds) + $0 })
        Self.set(
            RLIMIT_DATA, dataBytes.flatMap { more in ProcessUsage.dataBytes.map { $0 + more } })
        Self.set(RLIMIT_FSIZE, fileBytes)
    }

    /// Sets one limit. A failure is ignored: the limit is only a backstop, and the render continues without it.
    private static func set(_ resource: __rlimit_resource, _ most: Int?) {
        let resource = __rlimit_resource_t(resource.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = min(most.map { rlim_t($0) } ?? .max, limit.rlim_max)
        setrlimit(resource, &limit)
    }
}

extension RequestLimits {
    /// The limits for a planned photo.
    init(of photo: Photo, at speed: ProcessorSpeed) {
        var status = stat()
        // If fstat fails, rendering fails too and reports the error.
        fstat(photo.file.descriptor, &status)
        self.init(
            photo.plan, estimate: photo.fullEstimate, renditionPixels: photo.renditionPixelsMax,
            sourceBytes: Int(status.st_size), at: speed)
    }
}
