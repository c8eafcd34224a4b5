public import Adjustments
public import Boxes

/// The things in a HEIF beside the photo: items that name the primary one.
public struct HEIFCompanions: Sendable, Equatable {
    /// A gain map as items; its pixels come from whoever reads items of that type.
    public struct Map: Sendable, Equatable {
        /// The item whose picture is the map.
        public let item: Int
        /// The item `tmap` whose data are the metadata of ISO 21496-1; nil for Apple's and Samsung's alone.
        public let toneMap: Int?
    }

    /// The gain map, or nil.
    public let map: Map?
    /// Other things, but for a video, which lies outside of `meta`.
    public let others: Set<Companion>

    /// Reads the items.
    public init(_ meta: HEIFMeta) {
        guard let primary = meta.primary else {
            (map, others) = (nil, [])
            return
        }
        var map: Map?
        var others: Set<Companion> = []
        // ISO/IEC 23008-12:2025 §6.6.2.4: a tone map is derived from the base and the map, in this order.
        for (id, item) in meta.items.sorted(by: { $0.key < $1.key }) where item.type == "tmap" {
            let inputs = meta.items(from: id, by: "dimg")
            if inputs.count == 2, inputs[0] == primary, meta.items[inputs[1]] != nil, map == nil {
                map = Map(item: inputs[1], toneMap: id)
            }
        }
        for item in meta.items(to: primary, by: "auxl").sorted() {
            for case .auxiliary(let urn) in meta.properties(of: item) {
                if urn.hasSuffix(":aux:hdrgainmap") {
                    map = map ?? Map(item: item, toneMap: nil)
                } else if let companion = Companion(auxiliary: urn) {
                    others.insert(companion)
                }
            }
        }
        if meta.groups.contains(where: { $0.type == "ster" }) { others.insert(.secondEye) }
        self.map = map
        self.others = others
    }
}
