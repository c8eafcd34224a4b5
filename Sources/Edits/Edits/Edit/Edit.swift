/// The change that a job makes to its asset (`jobs/edit.schema.json`).
///
/// Every mode creates a new version, unless there is nothing to do. No mode changes the original or an older version.
public struct Edit: Sendable, Equatable {
    /// The operation.
    public let mode: Mode
    /// The output settings; nil for those of the last edit, or the defaults.
    public let output: Recipe.Output?
    /// Whether the version is only prepared, so that it can be published or discarded later.
    public let isDraft: Bool

    /// The operation of an edit.
    public enum Mode: Sendable, Equatable {
        /// Replaces the filters of the last edit.
        case replace(Steps)
        /// Appends filters to those of the last edit.
        case append(Steps)
        /// Changes or removes steps of the last edit.
        case amend([Amendment])
        /// Makes the original current again.
        case revert
        /// Restores the version from before the last edit.
        case undo
        /// Restores the version that the last undo removed.
        case redo
        /// Replaces the last edit with the edit of another asset.
        case copyEdit(EditSource)
        /// Renders the last edit again, with a new engine or another output.
        case render
        /// Replaces the last edit with an edit from another editor.
        case `import`(Import)
        /// Makes the draft current; `version` selects it.
        case publish(version: String?)
        /// Removes the draft; `version` selects it.
        case discard(version: String?)

        /// The mode's name in the contract.
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

        /// Whether it produces a render that can be a draft.
        public var canBeDraft: Bool {
            switch self {
            case .replace, .append, .amend, .copyEdit, .render: true
            case .revert, .undo, .redo, .import, .publish, .discard: false
            }
        }

        /// Whether the result depends on the last edit's adjustment data.
        public var buildsOnLastEdit: Bool {
            switch self {
            case .replace, .append, .amend, .copyEdit, .render: true
            case .revert, .undo, .redo, .import, .publish, .discard: false
            }
        }
    }

    /// Filters to apply.
    public struct Steps: Sendable, Equatable {
        /// The filters in order; may be empty.
        public let filters: [Filter]
        /// Size of the upright preview on which they were chosen, or nil if lengths count full-size pixels.
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

        /// Creates a reference to an edit.
        public init(asset: AssetPath, version: String? = nil) {
            self.asset = asset
            self.version = version
        }
    }

    /// An edit from another editor.
    public struct Import: Sendable, Equatable {
        /// The location of its adjustment data.
        public let adjustment: Adjustment
        /// The photo that the other editor rendered, below the originals; nil if Minilab renders it.
        public let render: AssetPath?

        /// The location of adjustment data.
        public enum Adjustment: Sendable, Equatable {
            /// In an `.AAE` file below the originals.
            case sidecar(AssetPath)
            /// In the job itself.
            case inline(AdjustmentData)
        }

        /// Creates an import.
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

    /// Creates the edit that replaces the last edit with a recipe.
    public init(_ recipe: Recipe) {
        self.init(
            .replace(Steps(recipe.filters, referenceSize: recipe.referenceSize)),
            output: recipe.output)
    }
}
