import Edits
import Editors
import Filters
import FoundationEssentials

extension FuzzTarget {
    private static let registry: EditorRegistry = {
        do throws(Failure) {
            let tint = (identifier: "com.example.ColorTint", version: "1.0")
            return try EditorRegistry.standard(lookAlikes: true, tint: tint)
        } catch {
            fatalError("the registry cannot be made: \(error)")
        }
    }()

    private static let photo = EditedPhoto(
        storedSize: PixelSize(width: 400, height: 300), orientation: .upright)

    /// Checks that a sidecar survives writing and reading.
    func readSidecar(_ bytes: Data) {
        // Most inputs are rejected, which is the expected outcome.
        guard let sidecar = try? AAESidecar(bytes: bytes) else { return }
        let again = try? AAESidecar(bytes: sidecar.encoded())  // nil is unequal
        precondition(again == sidecar)
        open(sidecar.adjustment)
    }

    /// Opens adjustment data. The first line names the format, and after a space whether the rest is to be compressed first,
    /// because no fuzzer gets past DEFLATE.
    func readAdjustmentData(_ bytes: Data) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        guard lines.count == 2 else { return }
        let fields = String(decoding: lines[0], as: UTF8.self).split(separator: " ")
        guard let codec = fields.first.flatMap({ Self.registry.codec(of: String($0)) }) else {
            return
        }
        let data = Data(lines[1])
        open(
            AdjustmentData(
                formatIdentifier: codec.formatIdentifier,
                formatVersion: codec.formatVersions.last ?? "",
                data: fields.last == "deflate" ? Deflate.deflate(data, .none) : data))
    }

    /// Checks that an editor can read again what it reads and writes.
    private func open(_ adjustment: AdjustmentData) {
        guard case .canHandle(let recipe) = Self.registry.open(adjustment, of: Self.photo),
            let codec = Self.registry.codec(of: adjustment.formatIdentifier),
            // A readable recipe may not be expressible in the same format.
            let written = try? codec.write(recipe, for: Self.photo)
        else { return }
        let again = Self.registry.open(
            AdjustmentData(
                formatIdentifier: codec.formatIdentifier,
                formatVersion: codec.formatVersions.last ?? "", data: written), of: Self.photo)
        guard case .canHandle = again else {
            preconditionFailure(
                "what was written of \(adjustment.format) is answered with \(again)")
        }
    }

    /// Checks that the canonical JSON of an edit decodes to the same edit, and that of a recipe to the same recipe.
    func readEdit(_ bytes: Data) {
        // Most inputs are rejected, which is the expected outcome.
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        if let edit = try? Edit(json: text) {
            let canonical = edit.json.canonical
            // With full names, the canonical JSON may exceed the limit of an edit.
            if canonical.utf8.count <= ContractLimits.editBytesMax {
                let again = try? Edit(json: canonical)  // nil is unequal
                precondition(again == edit)
            }
        }
        if let recipe = try? Recipe(json: text) {
            let again = try? Recipe(recorded: recipe.json.canonical)  // nil is unequal
            precondition(again == recipe && again?.digest == recipe.digest)
        }
    }
}
