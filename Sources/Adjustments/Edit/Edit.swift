/// What a job does to its asset (`jobs/edit.schema.json`).
///
/// Every mode but those that find nothing to do makes a new version; none ever changes the original or an
/// older version.
public struct Edit: Sendable, Equatable {
    /// What is done.
    public let mode: Mode
    /// How the result is written; nil for what the edit that is there says, or the defaults.
    public let output: Recipe.Output?
    /// Whether the version is only prepared, to be published or discarded later.
    public let isDraft: Bool

    /// What is done.
    public enum Mode: Sendable, Equatable {
        /// These filters take the place of the last edit.
        case replace(Steps)
        /// These filters follow those of the last edit.
        case append(Steps)
        /// Steps of the last edit are changed or removed.
        case amend([Amendment])
        /// The original is current again.
        case revert
        /// What was current before the last edit is current again.
        case undo
        /// What the last undo took back is current again.
        case redo
        /// The edit of another asset takes the place of the last edit.
        case copyEdit(EditSource)
        /// The last edit is rendered again: by a new engine, or written otherwise.
        case render
        /// An edit that was made elsewhere takes the place of the last edit.
        case `import`(Import)
        /// The draft becomes current; a version names which.
        case publish(version: String?)
        /// The draft is removed; a version names which.
        case discard(version: String?)

        /// The mode as the contract calls it.
        public var name: Name {
            switch self {
            case .replace: .replace
            case .append: .append
            case .amend: .amend
            case .revert: .revert
            case .undo: .undo
            case .redo: .redo
            case .copyEdit: .copyEdit
            case .render: .render
            case .import: .import
            case .publish: .publish
            case .discard: .discard
            }
        }
    }

    /// The modes' names in the contract.
    public enum Name: String, Sendable, Codable, CaseIterable {
        case replace, append, amend, revert, undo, redo, copyEdit, render, `import`, publish,
            discard

        /// Whether it makes a render that can be a draft.
        public var canBeDraft: Bool {
            switch self {
            case .replace, .append, .amend, .copyEdit, .render: true
            case .revert, .undo, .redo, .import, .publish, .discard: false
            }
        }

        /// Whether what becomes of it depends on the last edit's adjustment data.
        public var buildsOnLastEdit: Bool {
            switch self {
            case .replace, .append, .amend, .copyEdit, .render: true
            case .revert, .undo, .redo, .import, .publish, .discard: false
            }
        }
    }

    /// Filters to apply.
    public struct Steps: Sendable, Equatable {
        /// The filters, first one first; may be empty.
        public let filters: [Filter]
        /// Size of the upright preview that they were chosen on, or nil when lengths count full-size pixels.
        public let referenceSize: PixelSize?

        /// Makes steps.
        public init(_ filters: [Filter], referenceSize: PixelSize? = nil) {
            self.filters = filters
            self.referenceSize = referenceSize
        }
    }

    /// The edit of another asset.
    public struct EditSource: Sendable, Equatable {
        /// The asset.
        public let asset: AssetPath
        /// One of its versions, or nil for the current one.
        public let version: String?

        /// Names an edit.
        public init(asset: AssetPath, version: String? = nil) {
            self.asset = asset
            self.version = version
        }
    }

    /// An edit that was made elsewhere.
    public struct Import: Sendable, Equatable {
        /// Where its adjustment data are.
        public let adjustment: Adjustment
        /// The photo that the other editor rendered, below the originals; nil when it is rendered here.
        public let render: AssetPath?

        /// Where adjustment data are.
        public enum Adjustment: Sendable, Equatable {
            /// In an `.AAE` file below the originals.
            case sidecar(AssetPath)
            /// In the job itself.
            case inline(AdjustmentData)
        }

        /// Describes an import.
        public init(adjustment: Adjustment, render: AssetPath? = nil) {
            self.adjustment = adjustment
            self.render = render
        }
    }

    /// Makes an edit.
    public init(_ mode: Mode, output: Recipe.Output? = nil, isDraft: Bool = false) {
        self.mode = mode
        self.output = output
        self.isDraft = isDraft
    }

    /// The edit that puts a recipe in the place of the last edit.
    public init(_ recipe: Recipe) {
        self.init(
            .replace(Steps(recipe.filters, referenceSize: recipe.referenceSize)),
            output: recipe.output)
    }
}
