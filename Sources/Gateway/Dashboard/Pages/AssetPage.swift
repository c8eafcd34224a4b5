import Edits

/// The page of one asset: any two versions side by side, the difference of their edits, and the list of versions.
package struct AssetPage: Page {
    package let frame: Frame
    package let title: String
    let asset: String
    let action: String
    let before: Side?
    let after: Side?
    let isComparable: Bool
    let beforeChoices: [Choice]
    let afterChoices: [Choice]
    let diff: [DiffLine]
    let hasDiff: Bool
    let versions: [VersionRow]
    let renditions: [RenditionRow]
    let hasRenditions: Bool
    let undo: Move?
    let redo: Move?
    let draft: Draft?
    let isChecked: Bool
    let verification: [String]
    let isVerified: Bool
    let jobs: [JobRow]
    let hasJobs: Bool

    package static let template = "asset"
    package static let modules = [StaticFile.sliderName]

    package struct Version: Sendable {
        let name: String
        let label: String

        package init(name: String, label: String) {
            self.name = name
            self.label = label
        }
    }

    struct Side: View {
        let label: String
        let source: String
        let alternative: String
    }

    struct Choice: View {
        let name: String
        let label: String
        let isChosen: Bool
    }

    package struct Move: View {
        let label: String
        let isKept: Bool

        /// - Parameters:
        ///   - label: the version, as text for people, or `the original`.
        ///   - isKept: whether its files still exist.
        package init(to label: String, isKept: Bool) {
            self.label = label
            self.isKept = isKept
        }
    }

    package struct Draft: View {
        let version: String
        let label: String
        /// Whether another version has become current since it was made.
        let isStale: Bool

        package init(version: String, label: String, isStale: Bool) {
            self.version = version
            self.label = label
            self.isStale = isStale
        }
    }

    /// - Parameters:
    ///   - choices: all versions that can be shown: the original, the kept versions, the draft.
    ///   - before: the name of the left version.
    ///   - after: the name of the right version.
    ///   - diff: the `RecipeComparison.lines` of the two versions.
    ///   - versions: the draft first, then the newest first.
    ///   - renditions: those of the right version, by name.
    ///   - undo: the target of undo; nil if there is nothing to undo.
    ///   - verification: the lines of a verification's result; nil if none was requested.
    ///   - jobs: the unfinished jobs of this asset.
    package init(
        _ frame: Frame, asset: String, choices: [Version], before: String?, after: String?,
        diff: [String], versions: [VersionRow], renditions: [RenditionRow] = [], undo: Move?,
        redo: Move?, draft: Draft?,
        verification: [String]? = nil, isVerified: Bool = false, jobs: [JobRow] = []
    ) {
        func side(_ name: String?) -> Side? {
            choices.first { $0.name == name }.map {
                Side(
                    label: $0.label, source: Links.picture(asset, version: $0.name),
                    alternative: "\(asset.printable), \($0.label)")
            }
        }
        func offered(_ chosen: String?) -> [Choice] {
            choices.map { Choice(name: $0.name, label: $0.label, isChosen: $0.name == chosen) }
        }
        self.frame = frame
        title = asset.printable
        self.asset = asset.printable
        action = Links.asset(asset)
        self.before = side(before)
        self.after = side(after)
        isComparable = self.before != nil && self.after != nil
        beforeChoices = offered(before)
        afterChoices = offered(after)
        self.diff = diff.map(DiffLine.init)
        hasDiff = !diff.isEmpty
        self.versions = versions
        self.renditions = renditions
        hasRenditions = !renditions.isEmpty
        self.undo = undo
        self.redo = redo
        self.draft = draft
        isChecked = verification != nil
        self.verification = verification ?? []
        self.isVerified = isVerified
        self.jobs = jobs
        hasJobs = !jobs.isEmpty
    }
}

package struct RenditionRow: View {
    let name: String
    let text: String
    let href: String

    /// - Parameter text: size, format and length, for people.
    package init(_ name: String, _ text: String, of asset: String, version: String) {
        self.name = name
        self.text = text
        href = Links.rendition(name, of: asset, version: version)
    }
}

package struct VersionRow: View {
    let version: String
    let revision: Int
    let text: String
    let author: String?
    let at: Moment?
    let isCurrent: Bool
    let isDraft: Bool
    let isUndo: Bool
    let isRedo: Bool
    /// Whether its files were removed to free space.
    let isCollected: Bool
    let thumbnail: String?
    let compareHref: String?

    package init(
        asset: String, version: String, revision: Int, text: String, author: String? = nil,
        at: Moment? = nil, marks: Set<String>, isCollected: Bool
    ) {
        self.version = version
        self.revision = revision
        self.text = text
        self.author = author
        self.at = at
        isCurrent = marks.contains("current")
        isDraft = marks.contains("draft")
        isUndo = marks.contains("undo")
        isRedo = marks.contains("redo")
        self.isCollected = isCollected
        thumbnail = isCollected ? nil : Links.picture(asset, version: version)
        compareHref =
            isCollected
            ? nil
            : Links.query(Links.asset(asset), [("before", "original"), ("after", version)])
    }
}
