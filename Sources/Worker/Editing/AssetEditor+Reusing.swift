import Adjustments
import Library
import RenderProtocol

/// What a version shows, and what it was made of: rendered now, or taken from another version.
struct RenderedPhoto: Sendable {
    let input: Content.Input
    /// As it was resolved for the full photo.
    let recipe: Recipe
    let rendering: Content.Rendering
    let image: Content.Image
    /// The movie of a Live Photo; nil for a photo alone.
    var pairedVideo: Content.Image?
    let previews: [Content.Preview]
    let placeholder: String?
    /// `asset@version`.
    var reusedFrom: String?

    /// The key under which parts of its movie were kept; nil for a photo.
    var movieKey: RenderKey? {
        let isMovie = pairedVideo != nil || image.mediaType.hasPrefix("video/")
        return isMovie ? rendering.key.flatMap(RenderKey.init(recorded:)) : nil
    }

    /// The same as a Live Photo.
    ///
    /// - Parameter use: what its movie took.
    func with(_ movie: Content.Image, _ use: RenderUse) -> RenderedPhoto {
        RenderedPhoto(
            input: input, recipe: recipe, rendering: rendering.adding(use), image: image,
            pairedVideo: movie, previews: previews, placeholder: placeholder,
            reusedFrom: reusedFrom)
    }
}

extension Content.Rendering {
    /// With what a second file took.
    fileprivate func adding(_ use: RenderUse) -> Content.Rendering {
        Content.Rendering(
            engine: engine, key: key, at: at, plan: plan,
            wallMilliseconds: wallMilliseconds + use.wallMilliseconds,
            cpuMilliseconds: cpuMilliseconds + use.cpuMilliseconds,
            peakMemoryBytes: max(peakMemoryBytes, use.peakMemoryBytes), gainMap: gainMap,
            motionVideo: motionVideo, leftOut: leftOut)
    }
}

/// Renders that a version of the library has already.
extension AssetEditor {
    /// Shortest and longest pause between two looks whether the other job is done.
    private static let pauses = (
        shortest: Duration.milliseconds(5), longest: Duration.milliseconds(100)
    )

    /// The library's entry for a render, locked; waits for a job that renders the same now.
    ///
    /// - Returns: nil when renders are not to be used again, when the other job takes longer than one render may, or
    ///   when the one that has the entry is our own job in the hands of a worker that got stuck.
    func entry(
        _ key: RenderKey, of asset: AssetPath, _ job: Job
    ) async throws -> (any RenderEntry)? {
        guard let reuseWait else { return nil }
        let end = ContinuousClock.now + reuseWait
        var pause = Self.pauses.shortest
        while true {
            switch try await library.claim(key, of: asset, for: job.staged) {
            case .held(let entry): return entry
            case .lost: return nil
            case .busy:
                guard ContinuousClock.now < end else { return nil }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, Self.pauses.longest)
            }
        }
    }

    /// The tenants that may have the render of a job again: its own, or all.
    func sharers(_ job: Job) -> String { sharesAmongTenants ? "" : job.tenant }

    /// Takes over the render of an entry, if a version has it.
    func reused(
        _ entry: any RenderEntry, stem: String, _ job: Job
    ) async throws -> RenderedPhoto? {
        guard let reused = try await entry.reuse(as: stem, into: job.staged) else { return nil }
        return RenderedPhoto(
            input: reused.input, recipe: reused.recipe, rendering: reused.rendering,
            image: reused.render, pairedVideo: reused.pairedVideo,
            previews: reused.previews, placeholder: reused.placeholder,
            reusedFrom: reused.from)
    }
}

extension RenderKey {
    /// The key of what a recipe makes of a photo.
    ///
    /// - Parameters:
    ///   - digest: SHA-256 of the photo, in hex.
    ///   - tenant: who may have it again; empty for everybody.
    init(
        _ recipe: Recipe, _ header: PhotoHeader, _ digest: String, tenant: String
    ) throws(Failure) {
        self.init(
            photo: digest, recipe: try recipe.scaled(to: header.uprightSize), engine: Engine.name,
            tenant: tenant)
    }
}
