import Edits

/// CIBloom: mixed with its own blur where that is brighter; see ``Glow``.
enum CIBloom {
    static let definition = FilterDefinition(
        name: "CIBloom",
        summary: "Lets bright parts of the photo glow into their surroundings.",
        category: .stylise,
        parameters: Glow.parameters,
        fidelity: .measured(rms: 0.34),
        source:
            "mix(x, max(x, Gaussian(x)), intensity), σ = radius, on linear light multiplied by alpha.",
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in Glow(filter, brightens: true) })
}
