public import Editing
public import Edits
import Files
public import FoundationEssentials
public import JobQueue
public import Library
public import RenderPool
import Synchronization
import SystemPackage

/// Makes and publishes photo edits in a library.
public struct PhotoJobHandler: JobHandler {
    let queue: QueueName
    let library: any VersionWriter & RenderReuse & DeadLetters
    let editor: AssetEditor
    let settings: WorkerSettings
    private let resources: ResourceFolder?

    public init(
        queue: QueueName, library: any VersionWriter & RenderReuse & DeadLetters,
        pool: RenderPool, settings: WorkerSettings
    ) {
        self.queue = queue
        self.library = library
        editor = AssetEditor(library: library, pool: pool, settings: settings.editing)
        self.settings = settings
        resources = settings.editing.resources.map { ResourceFolder(FilePath($0)) }
    }

    public var filesTravel: Bool { library.isElsewhere }

    public func publish(_ version: CommittedVersion) async throws(Failure) -> Publication {
        guard let name = VersionName(version.name) else {
            throw Failure(
                .internalError, "\(version.name.debugDescription) is no name of a version.")
        }
        return try await library.publish(
            name, of: AssetPath(version.asset), from: stagedVersion(version.madeBy))
    }

    public func discard(_ hold: Hold) async throws(Failure) {
        try await library.discard(stagedVersion(hold))
    }

    public func sweep(_ hold: Hold) async throws(Failure) -> Bool {
        let staged = stagedVersion(hold)
        return try await offPool { () throws(Failure) in try library.staging.sweep(staged) }
    }

    public func staged() async throws(Failure) -> [Hold] {
        try await offPool { () throws(Failure) in try library.staging.sweepable(in: queue.string) }
            .map { Hold(job: $0.job, fence: $0.fence) }
    }

    public func reach() async throws(Failure) {
        try await library.reach()
        try await resources?.check()
    }

    public func checkPresence() async throws(Failure) {
        try await library.checkPresence()
        try await resources?.check()
    }

    public func noteResources(_ areKnown: Bool) -> Bool { resources?.note(areKnown) ?? areKnown }

    public func noteOfQueue() async throws(Failure) -> [UInt8]? {
        try await library.note(of: queue.string)
    }

    public func keepNoteOfQueue(_ note: [UInt8]) async throws(Failure) {
        try await library.keep(note, of: queue.string)
    }

    public func keepDead(_ lines: [UInt8], at time: Date) async throws(Failure) -> String {
        try await library.append(deadLetters: lines, of: queue.string, at: time)
    }

    func stagedVersion(_ hold: Hold) -> StagedVersion {
        StagedVersion(queue: queue.string, job: hold.job, fence: hold.fence)
    }
}

extension PhotoJobHandler {
    public func make(
        _ claim: Claim, _ hold: HeldJob, _ desk: JobDesk
    ) async throws -> MadeJob {
        hold.reach(.fetching)
        if let part = claim.part {
            try await editor.makePart(part, of: PartTask(claim.edit), try job(claim, hold, desk))
            return .part
        }
        var edit = try Edit(json: claim.edit)
        edit.fields = try claim.fields.map { text throws(Failure) in try AssetFields(json: text) }
        let asset = try AssetPath(claim.asset)
        switch try await editor.make(edit, of: asset, try job(claim, hold, desk)) {
        case .unchanged(let reason, let current):
            var version: JobEvent.Version?
            if let current { version = try await shown(current, asset) }
            return .nothing(
                JobEvent.NoChange(mode: edit.mode.name, version: version, reason: reason))
        case .superseded(let by, let reason):
            return .superseded(
                JobEvent.Supersession(
                    mode: edit.mode.name, version: try await shown(by, asset), by: by.author.job,
                    reason: reason))
        case .made(let version, let renditions):
            return .version(
                try await completed(claim, version, renditions, asset), isDraft: version.isDraft)
        case .rendered(let version, let renditions, let reason):
            // The library has them: who cancels the job now comes too late.
            let mode = edit.mode.name
            return try await toItsEnd {
                .rendered(
                    JobEvent.MadeRenditions(
                        mode: mode, version: try await shown(version, asset),
                        renditions: try await outcomes(renditions, of: version, asset),
                        reason: reason,
                        timings: JobEvent.Timings(
                            queuedMilliseconds: claim.queued / .milliseconds(1),
                            renderMilliseconds: renditions.use.wallMilliseconds,
                            cpuMilliseconds: renditions.use.cpuMilliseconds),
                        peakMemoryBytes: renditions.use.peakMemoryBytes))
            }
        }
    }

    private func job(_ claim: Claim, _ hold: HeldJob, _ desk: JobDesk) throws(Failure)
        -> AssetEditor.Job
    {
        let staged = stagedVersion(claim.hold)
        // This machine's clock may be wrong by days, as before its first answer of a time server.
        let now = claim.queueTime.map { $0 + Int(hold.age / .microseconds(1)) }
        let date = now.map { Date(timeIntervalSince1970: Double($0) / 1e6) } ?? .now
        let author = Provenance.Author(
            queue: staged.queue, job: claim.job, generation: claim.generation,
            attempt: claim.attempt, worker: settings.name, at: date.formatted(.iso8601),
            arrival: claim.arrival)
        var job = AssetEditor.Job(
            staged: staged, author: author,
            borrower: Borrower(.tenant(try JobID(claim.tenant))) { hold.isLost })
        (job.queueTime, job.isExclusive) = (now, claim.isQuarantined)
        job.told = claim.told
        job.reach = { hold.reach($0) }
        job.progress = { hold.reach($0) }
        job.desk = desk
        return job
    }

    /// Returns the event's description of a version, with the path of the file that its readers see.
    private func shown(
        _ version: Provenance, _ asset: AssetPath
    ) async throws(Failure) -> JobEvent.Version {
        JobEvent.Version(
            id: version.version, revision: version.revision,
            at: try await place(of: library.shownFile(of: version, asset)))
    }

    /// Returns the place of a file, with a URL if events are to include URLs.
    private func place(of file: StoredFile) async throws(Failure) -> JobEvent.Place {
        var link: JobEvent.Link?
        if let time = settings.eventURLs { link = try await library.url(of: file, for: time) }
        return JobEvent.Place(path: try await library.path(of: file), link: link)
    }

    /// Returns the event's description of renditions, by name.
    private func outcomes(
        _ renditions: MadeRenditions, of version: Provenance, _ asset: AssetPath
    ) async throws(Failure) -> [String: JobEvent.RenditionOutcome] {
        var outcomes = renditions.failures.mapValues {
            JobEvent.RenditionOutcome.failed(JobEvent.RenditionError($0))
        }
        guard let name = VersionName(version.version) else { return outcomes }
        for (key, rendition) in renditions.list.renditions {
            let file = StoredFile.rendition(asset, version: name, file: rendition.file)
            outcomes[key] = .made(
                JobEvent.MadeRendition(
                    Joined(try await place(of: file), rendition.made),
                    JobEvent.Encoding(
                        quality: rendition.quality, encodes: rendition.encodes, hash: rendition.hash
                    )))
        }
        return outcomes
    }

    private func completed(
        _ claim: Claim, _ version: Provenance, _ renditions: MadeRenditions, _ asset: AssetPath
    ) async throws(Failure) -> JobEvent.Completion {
        func place(of image: Content.Image) async throws(Failure) -> JobEvent.Place {
            try await self.place(of: StoredFile(image.name, of: version, asset))
        }
        let content = version.content
        // The content of an older version or of an import was rendered by another job, or elsewhere.
        let isNew = version.mode.rendersAnew && content?.reusedFrom == nil
        let rendering = isNew ? content?.rendering : nil
        // Of renditions that were made without the render, because that was there.
        let use = RenderUse(
            wallMilliseconds: rendering?.wallMilliseconds ?? 0,
            cpuMilliseconds: rendering?.cpuMilliseconds ?? 0,
            peakMemoryBytes: rendering?.peakMemoryBytes ?? 0
        ).after(renditions.use)
        var previews: [JobEvent.Preview] = []
        for preview in content?.previews ?? [] {
            previews.append(
                JobEvent.Preview(
                    longestSide: preview.longestSide, at: try await place(of: preview.image),
                    preview.image.size))
        }
        var movie: JobEvent.PairedVideo?
        if let video = content?.pairedVideo {
            movie = .init(try await place(of: video), video.file)
        }
        return JobEvent.Completion(
            mode: version.mode, version: try await shown(version, asset),
            render: content.map {
                JobEvent.Render($0.render.file, $0.rendering?.companions ?? Companions())
            },
            pairedVideo: movie, previews: previews,
            renditions: try await outcomes(renditions, of: version, asset),
            missingSizes: renditions.list.gone.keys.sorted(),
            placeholder: content?.placeholder, filters: content?.recipe?.filters,
            reusedFrom: version.mode.rendersAnew ? content?.reusedFrom : nil,
            timings: JobEvent.Timings(
                queuedMilliseconds: claim.queued / .milliseconds(1),
                renderMilliseconds: use.wallMilliseconds,
                cpuMilliseconds: use.cpuMilliseconds),
            peakMemoryBytes: use.peakMemoryBytes,
            untold: version.author.queue.map(version.earlierVersions)?.map {
                JobEvent.Untold(version: $0.version, job: $0.job)
            })
    }
}

extension Edit.Name {
    fileprivate var rendersAnew: Bool {
        switch self {
        case .replace, .append, .amend, .copyEdit, .render, .import: true
        case .revert, .undo, .redo, .renditions, .publish, .discard: false
        }
    }
}

/// The folder of the resources that edits name by digest: perhaps a mount of its own.
final class ResourceFolder: Sendable {
    private let path: FilePath
    /// Whether it had a file since the worker has started, or a worker of the queue has seen one in its own before.
    private let wasFilled = Mutex(false)

    init(_ path: FilePath) { self.path = path }

    /// Records that a worker of the queue has seen a file in its folder: this one may have been started without its disk.
    ///
    /// - Returns: whether this one has, at a check, or another one.
    func note(_ areKnown: Bool) -> Bool {
        wasFilled.withLock { filled in
            filled = filled || areKnown
            return filled
        }
    }

    /// Checks that the folder is at its place: one that had files and has none is its mount point, or was removed, and no
    /// resource is known to be missing.
    ///
    /// - Throws: `storeUnavailable`, `ioFailure`.
    func check() async throws(Failure) {
        try await offPool { () throws(Failure) in
            let isFilled = try FileSystem().hasEntry(self.path)
            let wasFilled = self.wasFilled.withLock { filled in
                filled = filled || isFilled
                return filled
            }
            guard wasFilled, !isFilled else { return }
            throw Failure(
                .storeUnavailable,
                "the folder of resources \(self.path) has no file, and the queue's workers have had some. Is its disk "
                    + "mounted? If they are not needed any more, run the worker without --resources."
            )
        }
    }
}
