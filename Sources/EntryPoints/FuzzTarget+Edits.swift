import Adjustments
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

    /// A sidecar that is read is read again from what we write of it.
    func takeSidecar(_ bytes: Data) {
        // To be refused is what most of these bytes are for.
        guard let sidecar = try? AAESidecar(bytes: bytes) else { return }
        let again = try? AAESidecar(bytes: sidecar.encoded())  // nil is unequal
        precondition(again == sidecar)
        open(sidecar.adjustment)
    }

    /// The first line names the format; behind a space it says whether the rest is compressed first, because
    /// no fuzzer finds its way through DEFLATE.
    func takeAdjustmentData(_ bytes: Data) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        guard lines.count == 2 else { return }
        let words = String(decoding: lines[0], as: UTF8.self).split(separator: " ")
        guard let codec = words.first.flatMap({ Self.registry.codec(of: String($0)) }) else {
            return
        }
        let data = Data(lines[1])
        open(
            AdjustmentData(
                formatIdentifier: codec.formatIdentifier,
                formatVersion: codec.formatVersions.last ?? "",
                data: words.last == "deflate" ? Deflate.deflate(data, .none) : data))
    }

    /// What an editor reads and can write, it can read again.
    private func open(_ adjustment: AdjustmentData) {
        guard case .canHandle(let recipe) = Self.registry.open(adjustment, of: Self.photo),
            let codec = Self.registry.codec(of: adjustment.formatIdentifier),
            // Not all that can be read has a word in the same format.
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

    /// The canonical spelling of an edit is the same edit, and that of a recipe the same recipe.
    func takeEdit(_ bytes: Data) {
        // To be refused is what most of these bytes are for.
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        if let edit = try? Edit(json: text) {
            let canonical = edit.json.canonical
            // Names in full can be longer than an edit may be.
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
