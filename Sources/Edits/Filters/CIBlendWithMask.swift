import Edits

/// CIBlendWithMask: a chain of filters, weighted by the brightness of a mask.
///
///     out = photo + (filtered − photo) · mask      of light multiplied by alpha
struct CIBlendWithMask: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIBlendWithMask",
        summary: "Applies filters where a mask is bright.",
        category: .local,
        parameters: [
            .init(
                name: "filters",
                summary: "What is done where the mask is white: filters of single pixels.",
                kind: .filters, defaultValue: nil),
            .init(
                name: "inputMaskImage",
                summary: "A gradient, or a picture; where it is transparent it is black.",
                kind: .generator, defaultValue: nil),
            .choice(
                "maskSpace",
                "linear: 50 % grey (128) weighs 0.216, as in Core Image; encoded: it weighs 0.5.",
                ["linear", "encoded"]),
        ],
        fidelity: .exact,
        source: """
            Core Image's formula, in which the mask's luminance counts as light. Core Image takes the filtered photo as an \
            image; here the filters are named.
            """,
        gain: .depends { filter in
            let effects = filter.filters("filters").map { $0.definition.gainEffect(of: $0) }
            if effects.contains(.dropped) { return .dropped }
            return effects.contains(.kept) ? .kept : .recomputed
        },
        light: .unlimited(when: { filter in
            filter.filters("filters").allSatisfy { $0.definition.lightRange(of: $0) == .unlimited }
        }),
        kernel: .pixel { filter, context throws(Failure) in try CIBlendWithMask(filter, context) })

    private let filters: [any PixelFilter]
    private let mask: any PixelFilter
    private let isEncoded: Bool
    var usesPosition: Bool { true }

    init(_ filter: Filter, _ context: FilterContext) throws(Failure) {
        var filters: [any PixelFilter] = []
        for inner in filter.filters("filters") {
            guard case .pixel(let make) = inner.definition.kernel else {
                throw Failure(
                    .invalidValue,
                    "CIBlendWithMask's filters have \(inner.name), which reads more than single "
                        + "pixels. Use it before or after, on the whole photo.")
            }
            filters.append(try make(inner, context))
        }
        self.filters = filters
        let generator = filter.generator("inputMaskImage")
        guard case .generator(let make) = generator.definition.kernel else {
            preconditionFailure("\(generator.name) was checked to be a generator")
        }
        mask = try make(generator, context)
        isEncoded = filter.text("maskSpace") == "encoded"
    }

    func apply(to pixels: PixelChunk) {
        pixels.withCopy { filtered in
            for filter in filters { filter.apply(to: filtered) }
            pixels.withCopy { mask in
                self.mask.apply(to: mask)
                weigh(mask)
                mix(filtered, into: pixels, mask.red)
            }
        }
    }

    /// Writes the mask's weights, 0 to 1, into its red plane.
    private func weigh(_ mask: PixelChunk) {
        for i in 0..<mask.count {
            let light = Luminance.of(mask.red[i], mask.green[i], mask.blue[i]) * mask.alpha[i]
            mask.red[i] = min(max(light, 0), 1)
        }
        if isEncoded { LightCurve.encoding.applySigned(to: mask.red, count: mask.count) }
    }

    private func mix(
        _ filtered: PixelChunk, into pixels: PixelChunk, _ weights: UnsafeMutablePointer<Float>
    ) {
        for (plane, other) in zip(pixels.colours, filtered.colours) {
            for i in 0..<pixels.count {
                let (a, b) = (
                    pixels.alpha[i] * (1 - weights[i]), filtered.alpha[i] * weights[i]
                )
                let alpha = a + b
                plane[i] = alpha > 0 ? (plane[i] * a + other[i] * b) / alpha : 0
            }
        }
        for i in 0..<pixels.count {
            pixels.alpha[i] += (filtered.alpha[i] - pixels.alpha[i]) * weights[i]
        }
    }
}

extension PixelChunk {
    /// Provides a copy of the pixels for the duration of the call.
    func withCopy(_ body: (PixelChunk) -> Void) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * count) { memory in
            guard let start = memory.baseAddress else { return }
            let planes = [red, green, blue, alpha]
            for (index, plane) in planes.enumerated() {
                (start + index * count).initialize(from: plane, count: count)
            }
            body(
                PixelChunk(
                    count: count, red: start, green: start + count, blue: start + 2 * count,
                    alpha: start + 3 * count, x: x, y: y))
        }
    }
}
