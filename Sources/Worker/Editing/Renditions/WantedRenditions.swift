package import Edits
package import Library
package import RenderPool
import RenderProtocol

/// The renditions that a job is to make, in the order of their names.
///
/// They are outputs of the same request as the render, so the photo is decoded and edited once.
struct WantedRenditions: Sendable, Equatable {
    struct One: Sendable, Equatable {
        let name: String
        let rendition: Rendition
    }

    let all: [One]
    /// Those that cannot be made, as the worker knows already, and that the edit does not require.
    private(set) var missed: [String: Failure] = [:]

    init(_ renditions: Renditions) {
        all = renditions.names.compactMap { name in
            renditions.byName[name].map { One(name: name, rendition: $0) }
        }
    }

    init(_ all: [One], missed: [String: Failure] = [:]) {
        (self.all, self.missed) = (all, missed)
    }

    /// - Parameter records: renditions that were made, whose placeholders are filled in.
    /// - Throws: `invalidValue` and others for one that a later release has made.
    init(recorded records: [String: StoredRendition]) throws(Failure) {
        all = try records.sorted { $0.key < $1.key }.map { name, record throws(Failure) in
            One(name: name, rendition: try Rendition(record.spec, at: "renditions.\(name)"))
        }
    }

    var isEmpty: Bool { all.isEmpty }

    var outputs: [PhotoRequest.Output] { all.map { .init(rendition: $0.rendition, name: $0.name) } }

    /// Returns them with the placeholders of their metadata and marks filled in: what is written and drawn is part of their keys. One
    /// that has no value for a placeholder, and is not required, is missed.
    ///
    /// - Parameter render: the settings of the render. What it loses of the metadata, they lose, too; their own values precede those
    ///   that are written into it, field by field.
    /// - Throws: `missingValue`.
    func filled(
        by values: PlaceholderValues, beside render: Recipe.Output = Recipe.Output()
    ) throws(Failure) -> WantedRenditions {
        var (filled, missed) = ([One](), missed)
        for one in all {
            var values = values
            values.rendition = one.name
            do throws(Failure) {
                let rendition = try one.rendition.filled(
                    by: values, beside: render, at: "edit.renditions.\(one.name)")
                filled.append(One(name: one.name, rendition: rendition))
            } catch  where error.code == .missingValue && !one.rendition.isRequired {
                missed[one.name] = error
            }
        }
        return WantedRenditions(filled, missed: missed)
    }

    /// Returns them without those that are missed.
    func missing(_ more: [String: Failure]) -> WantedRenditions {
        WantedRenditions(
            all.filter { more[$0.name] == nil }, missed: missed.merging(more) { $1 })
    }

    /// The result before one is made.
    var begun: MadeRenditions {
        var made = MadeRenditions()
        made.failures = missed
        return made
    }

    /// Returns the request for the render with these renditions, in place of those with placeholders.
    func replacing(in request: PhotoRequest) -> PhotoRequest {
        var request = request
        request.outputs = SmallPictures(request.recipe.output).outputs(around: [.full] + outputs)
        return request
    }

    /// Returns those without a result yet.
    func besides(_ made: MadeRenditions) -> WantedRenditions {
        WantedRenditions(
            all.filter { made.list.renditions[$0.name] == nil && made.failures[$0.name] == nil },
            missed: missed)
    }
}

/// The renditions that a job has made, or found.
package struct MadeRenditions: Sendable, Equatable {
    /// Those of the version that the job made, or those that it was asked for.
    package var list = SizeList()
    /// Those that could not be made, and that the edit does not require.
    package var failures: [String: Failure] = [:]
    /// The resources that the renderer used, if it made them without the version's render.
    package var use = RenderUse()

    package init(_ list: SizeList = SizeList()) { self.list = list }

    /// Those of a version that its own job made. Later jobs may have added others, and put some in the place of its own.
    init(_ list: SizeList, of author: Provenance.Author, _ edit: Edit) {
        self.list = list
        func isLater(_ rendition: StoredRendition) -> Bool {
            rendition.job != author.job && rendition.arrival ?? 0 > author.arrival ?? .max
        }
        for (name, rendition) in list.renditions where isLater(rendition) {
            let asked = edit.renditions.byName[name]
            // The same one of another photo's job may be linked.
            if asked?.spec == rendition.spec { continue }
            self.list.renditions[name] = nil
            if asked != nil { failures[name] = .overtaken(name, by: rendition) }
        }
        self.list.gone = list.gone.filter { !isLater($0.value) }
    }
}

extension Failure {
    /// A rendition whose name a later job has taken.
    static func overtaken(_ name: String, by rendition: StoredRendition) -> Failure {
        Failure(
            .overtaken,
            "Rendition \(name): another one of this name was asked for later, by job \(rendition.job), and is kept. Use two names to "
                + "have both.")
    }
}

/// The photo of which renditions are made, and all else that determines their bytes.
struct RenditionSubject: Sendable {
    /// The SHA-256, in hex, of the file that they are rendered from.
    let sha256: String
    let header: PhotoHeader
    /// The filters, in full-size pixels, with automatic ones resolved.
    let filters: Recipe
    /// The size of the edited picture.
    let size: PixelSize
    /// The length of the file, which bounds that of metadata.
    let sourceBytes: Int
    let owner: Owner
    let author: Provenance.Author

    /// - Parameter inspection: that of the file and the edit.
    init(
        _ inspection: Inspection, _ sha256: String, sourceBytes: Int, owner: Owner,
        _ author: Provenance.Author
    ) throws(Failure) {
        try self.init(
            sha256: sha256, header: inspection.header, filters: inspection.recipe,
            size: inspection.plan.resultSize,
            sourceBytes: sourceBytes, owner: owner, author)
    }

    /// - Parameter filters: the recipe, whose output does not count.
    init(
        sha256: String, header: PhotoHeader, filters: Recipe, size: PixelSize, sourceBytes: Int,
        owner: Owner,
        _ author: Provenance.Author
    ) throws(Failure) {
        (self.sha256, self.header, self.size) = (sha256, header, size)
        self.filters = try Recipe(filters: filters.filters, referenceSize: filters.referenceSize)
        (self.sourceBytes, self.owner, self.author) = (sourceBytes, owner, author)
    }

    func key(of rendition: Rendition) -> RenditionKey {
        RenditionKey(
            photo: sha256, filters: filters, rendition: rendition, render: Engine.render,
            owner: owner)
    }
}
