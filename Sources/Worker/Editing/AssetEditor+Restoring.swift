import Editors
import Edits
import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol
import SystemPackage
import Telemetry
import Tracing

extension AssetEditor {
    /// Makes a version that shows an older content, or the original, again. No pixel is rendered.
    func restore(
        _ restoration: EditPlan.Restoration, _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Provenance {
        try await begin(job.staged)
        if let from = restoration.from, let content = from.content {
            for name in content.fileNames {
                try await library.link(
                    StoredFile(name, of: from, open.asset), as: name, into: job.staged)
            }
        }
        return try await seal(
            edit, open, job, content: restoration.from?.content,
            timeline: restoration.timeline)
    }

    /// Creates the empty folder of a staged version.
    func begin(_ staged: StagedVersion) async throws(Failure) {
        try await offPool { () throws(Failure) in _ = try library.staging.begin(staged) }
    }

    /// Adds the provenance to the staged files.
    ///
    /// - Parameter timeline: the timeline after a move through history; nil: the version counts as an edit.
    func seal(
        _ edit: Edit, _ open: OpenAsset, _ job: Job, content: Content?, timeline: Timeline?
    ) async throws(Failure) -> Provenance {
        let parent = open.state.current.flatMap { VersionName($0.version) }
        let name = VersionName(revision: (parent?.revision ?? 0) + 1, fence: job.staged.fence)
        let before = open.state.current?.timeline ?? .start
        let provenance = Provenance(
            version: name, parent: parent, isDraft: edit.isDraft, mode: edit.mode.name,
            draft: edit.mode.name == .publish
                ? open.state.draft.flatMap { VersionName($0.version) } : nil,
            author: job.author, edit: edit.json.digest,
            history: try await library.publishedJobs(of: open.asset, open.state),
            timeline: timeline ?? before.edited(by: name), content: content)
        try await inSpan("seal") { _ throws(Failure) in
            try await library.seal(job.staged, provenance, of: open.asset)
        }
        return provenance
    }
}

/// The small pictures of a result: sRGB JPEGs without metadata, for screens.
///
/// They are outputs of the same request as the render: first a tiny placeholder, which is sent in an event before
/// the render is finished, and last the previews. All are made from one small copy of the photo.
struct SmallPictures: Sendable {
    /// The longest sides of the previews, in pixels.
    let sides: [Int]
    private let format: Recipe.Output

    /// The longest side of a placeholder, small enough for an event.
    static let placeholderSide = 32
    /// The most bytes of a placeholder.
    static let placeholderBytesMax = 8192
    private static let quality = 0.8

    /// Creates the small pictures that a recipe's output requests.
    init(_ output: Recipe.Output) {
        sides = output.previews
        format = Recipe.Output(
            format: .jpeg, quality: Self.quality, strip: .all, colorSpace: .srgb,
            background: output.background)
    }

    /// Returns the outputs to request of a child, in order: the placeholder, the given outputs, the previews.
    func outputs(around full: [PhotoRequest.Output]) -> [PhotoRequest.Output] {
        guard !sides.isEmpty else { return full }
        return [.init(longestSide: Self.placeholderSide, format: format)] + full
            + sides.map { .init(longestSide: $0, format: format) }
    }

    /// The index of the placeholder among the outputs; nil if there is none.
    var placeholder: Int? { sides.isEmpty ? nil : 0 }

    /// Returns the index of the first preview among the outputs.
    ///
    /// - Parameter full: the number of outputs between placeholder and previews.
    func firstPreview(after full: Int) -> Int { full + 1 }
}

extension AssetEditor {
    /// Accepts the previews of a request into the staged version.
    func acceptPreviews(
        _ small: SmallPictures, after full: Int, of files: RenderFiles, into staged: StagedVersion
    ) throws(Failure) -> [Content.Preview] {
        var previews: [Content.Preview] = []
        for (index, side) in small.sides.enumerated() {
            let image = try accept(
                files.outputs[small.firstPreview(after: full) + index],
                as: "\(Content.previewsFolder)/\(side).\(Recipe.Format.jpeg.fileExtension)",
                RenderedResult(format: .jpeg, size: .within(side)), sourceBytes: 0, into: staged)
            previews.append(Content.Preview(longestSide: side, image: image))
        }
        return previews
    }

    /// Reads a placeholder from a child's output.
    ///
    /// - Returns: a `data:` URI.
    /// - Throws: `untrustedRender` if the output is no tiny JPEG.
    static func placeholder(_ file: OpenFile) throws(Failure) -> String {
        guard try file.length() <= SmallPictures.placeholderBytesMax else {
            throw RenderedResult.refusal("has a placeholder of \(try file.length()) bytes")
        }
        // Read once, so that the checked bytes are the sent bytes, even if the child writes in the meantime.
        let bytes = file.bytes(from: 0, count: SmallPictures.placeholderBytesMax)
        try RenderedResult(format: .jpeg, size: .within(SmallPictures.placeholderSide)).check(bytes)
        return "data:\(Recipe.Format.jpeg.mediaType);base64,\(Data(bytes).base64EncodedString())"
    }
}

extension RenderedPhoto {
    /// The key under which parts of its movie were stored; nil for a photo.
    var movieKey: RenderKey? {
        let isMovie = pairedVideo != nil || render.mediaType.hasPrefix("video/")
        return isMovie ? rendering.key.flatMap(RenderKey.init(recorded:)) : nil
    }

    /// Adds a movie, as a Live Photo.
    ///
    /// - Parameter use: the resources that the movie's render used.
    mutating func addMovie(_ movie: Content.Image, _ use: RenderUse) {
        rendering = rendering.adding(use)
        pairedVideo = movie
    }
}

extension Content.Rendering {
    /// Adds the resources that a second file used.
    fileprivate func adding(_ use: RenderUse) -> Content.Rendering {
        Content.Rendering(
            engine: engine, key: key, at: at, plan: plan,
            wallMilliseconds: wallMilliseconds + use.wallMilliseconds,
            cpuMilliseconds: cpuMilliseconds + use.cpuMilliseconds,
            peakMemoryBytes: max(peakMemoryBytes, use.peakMemoryBytes), gainMap: gainMap,
            motionVideo: motionVideo, leftOut: leftOut)
    }
}

/// Reuse of renders that a version of the library already has.
extension AssetEditor {
    /// The shortest and the longest pause between two checks whether the other job is done.
    private static let pauses = (
        shortest: Duration.milliseconds(5), longest: Duration.milliseconds(100)
    )

    /// Returns the library's entry for a render, locked. Waits while another job renders the same picture.
    ///
    /// - Returns: nil if renders are not reused, if the other job takes longer than the limit of one render, or if
    ///   the entry is locked by this same job on a worker that is stuck.
    func entry(
        _ key: RenderKey, of asset: AssetPath, _ job: Job
    ) async throws -> (any RenderEntry)? {
        guard let reuseWait else { return nil }
        let end = ContinuousClock.now + reuseWait
        var pause = Self.pauses.shortest
        while true {
            switch try await library.claim(key, of: asset, for: job.staged) {
            case .claimed(let entry): return entry
            case .lost: return nil
            case .busy:
                guard ContinuousClock.now < end else { return nil }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, Self.pauses.longest)
            }
        }
    }

    /// Returns the owner of a job's render: the job's, or the operator if all tenants share their renders.
    func ownerOfRender(_ job: Job) -> Owner {
        sharesAmongTenants ? .operator : job.borrower.owner
    }
}

extension RenderKey {
    /// Creates the key of a recipe's render of a photo.
    ///
    /// - Parameters:
    ///   - digest: the SHA-256 of the photo, in hex.
    ///   - owner: the owner of the render, for whose jobs alone it is reused.
    init(
        _ recipe: Recipe, _ header: PhotoHeader, _ digest: String, of owner: Owner
    ) throws(Failure) {
        self.init(
            photo: digest, recipe: try recipe.scaled(to: header.uprightSize), engine: Engine.name,
            owner: owner)
    }
}
