import Edits
import Library
import RenderPool
import RenderProtocol

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
