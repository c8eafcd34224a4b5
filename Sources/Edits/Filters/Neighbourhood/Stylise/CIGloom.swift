import Edits

/// CIGloom: mixed with its own blur where that is darker; see ``Glow``.
enum CIGloom {
    static let definition = FilterDefinition(
        name: "CIGloom",
        summary: "Lets dark parts of the photo spread into their surroundings.",
        category: .stylise,
        parameters: Glow.parameters,
        fidelity: .measured(rms: 0.27),
        source:
            "mix(x, min(x, Gaussian(x)), intensity), σ = radius, on linear light multiplied by alpha.",
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in Glow(filter, brightens: false) })
}
