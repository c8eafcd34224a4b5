import Adjustments
import Glibc
import RenderProtocol

/// Limits of the kernel for one request, as a backstop behind the plan and the worker's clock: they hold a decoder
/// that runs away, on a machine whose worker is busy or stopped.
///
/// Soft limits, set anew for each request: a child that is taken over can lift them again, and is then bounded
/// by the worker's clock, the memory of the machine and the quota of the disk.
struct RequestLimits: Equatable {
    /// Seconds of processor time from now on, or nil: SIGXCPU.
    var cpuSeconds: Int?
    /// Bytes of private memory more than now, or nil: allocations fail.
    var dataBytes: Int?
    /// Length of a file in bytes, or nil: SIGXFSZ.
    var fileBytes: Int?

    init(cpuSeconds: Int? = nil) { self.cpuSeconds = cpuSeconds }

    /// What holds until the plan is known. A header is read in milliseconds; statistics for an automatic filter
    /// need all pixels.
    static func beforePlan(
        of request: RenderRequest, at speed: ProcessorSpeed
    ) -> RequestLimits {
        switch request.work {
        case .inspect(let photo), .render(let photo):
            RequestLimits(
                cpuSeconds: photo.recipe.isAutomatic
                    ? nil : wholeSeconds(speed.scaled(headerTime)))
        case .contactSheet, .confinement, .tryFormat, .libraries: RequestLimits()
        }
    }

    /// Processor time of the reference in which a header must be read: a loop in its reader ends within 5 s of a core.
    private static let headerTime: Duration = .seconds(4)

    private static func wholeSeconds(_ time: Duration) -> Int {
        Int((time / .seconds(1)).rounded(.up))
    }

    /// What a plan may need: its estimate, and room for the estimate to be wrong.
    ///
    /// - Parameters:
    ///   - estimate: of the photo at full size, also for a small copy of it.
    ///   - sourceBytes: length of the photo's file.
    ///   - speed: of this process.
    init(
        _ plan: RenderPlan, estimate: RenderEstimate, sourceBytes: Int, at speed: ProcessorSpeed
    ) {
        cpuSeconds = Self.wholeSeconds(estimate.cpuLimit(at: speed)) * max(1, plan.threads)
        dataBytes =
            estimate.memoryBytes * Self.dataFactor + Self.dataReserve
            + plan.threads * Self.threadBytes
        let written =
            plan.movie == nil
            ? plan.resultSize.pixels * Self.pixelBytesMax : Self.movieFactor * sourceBytes
        // Its frames, and the movie that is made of them, before the photo.
        let video = plan.motionVideo != nil ? 2 * Self.movieFactor * sourceBytes : 0
        fileBytes = max(written + video, estimate.spoolBytes) + sourceBytes + Self.fileReserve
    }

    /// RLIMIT_DATA counts what is mapped, of which a part is never touched: stacks, the heaps of threads.
    private static let dataFactor = 2
    private static let dataReserve = 256 << 20
    /// The stacks of a thread of libvips and of one that rows are made on (glibc: 8 MiB each, as RLIMIT_STACK has it).
    private static let threadBytes = 16 << 20
    /// Of a pixel in the largest format that is written, or put aside: four floats.
    private static let pixelBytesMax = 16
    /// A movie's encoder is bounded by twice the source's rate.
    private static let movieFactor = 3
    /// Metadata, profile, indices.
    private static let fileReserve = 64 << 20

    /// Sets them.
    func enter() {
        Self.set(RLIMIT_CPU, cpuSeconds.map { Int(ProcessUsage.limitedSeconds) + $0 })
        Self.set(
            RLIMIT_DATA, dataBytes.flatMap { more in ProcessUsage.dataBytes.map { $0 + more } })
        Self.set(RLIMIT_FSIZE, fileBytes)
    }

    /// A backstop that cannot be set is none, and the render goes on.
    private static func set(_ resource: __rlimit_resource, _ most: Int?) {
        let resource = __rlimit_resource_t(resource.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = min(most.map { rlim_t($0) } ?? .max, limit.rlim_max)
        setrlimit(resource, &limit)
    }
}

extension RequestLimits {
    /// What a photo may need whose render is planned.
    init(of photo: Photo, at speed: ProcessorSpeed) {
        var status = stat()
        // What cannot be looked at any more cannot be rendered either, and that says why.
        fstat(photo.file.descriptor, &status)
        self.init(
            photo.plan, estimate: photo.fullEstimate, sourceBytes: Int(status.st_size), at: speed)
    }
}
