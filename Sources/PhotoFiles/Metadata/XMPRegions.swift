import Edits

extension XMPPacket {
    /// A change of some bytes.
    typealias Change = (range: Range<Int>, new: [UInt8])

    /// Changes each occurrence of a structured property, or removes it.
    ///
    /// - Parameter changes: returns the changes of the bytes; nil to remove the property.
    mutating func edit(
        _ name: String, _ changes: (XMPElement, XMPPacket) -> [Change]?
    ) {
        changeEach(name) { property, packet in
            let element = property.value.flatMap { _ in
                XMPElement(packet.bytes, in: property.whole)
            }
            return element.flatMap { changes($0, packet) } ?? [(property.whole, [])]
        }
    }

    /// Moves the regions that the packet states to their places in a picture. Those whose middle is cut away are removed, and all of
    /// them if the way of the content is unknown.
    mutating func moveRegions(_ map: ContentMap?, to size: PixelSize) {
        // Structures that are not understood here, with positions in them, and positions of the original's focus.
        for name in ["acdsee-rs:Regions", "GFocus:FocalPointX", "GFocus:FocalPointY"] {
            remove(name)
        }
        edit("mwg-rs:Regions") { regions, packet in
            map.flatMap { packet.movedMWG(regions, $0, size) }
        }
        edit("MP:RegionInfo") { info, packet in map.flatMap { packet.movedMP(info, $0) } }
        edit("Iptc4xmpExt:ImageRegion") { regions, packet in
            map.flatMap { packet.movedIPTC(regions, $0) }
        }
    }

    /// Moves or removes the subject, as EXIF states it: two to four whole numbers.
    mutating func moveSubject(_ positions: PictureFacts.Positions) {
        for name in ["exif:SubjectArea", "exif:SubjectLocation"] {
            edit(name) { list, packet in
                let items = list.items(packet.names)
                let numbers = items.compactMap { Int(packet.text($0.content)) }
                guard numbers.count == items.count,
                    let moved = SubjectArea(numbers)?.moved(positions)
                else { return nil }
                return zip(items, moved.numbers).map { ($0.content, Array("\($1)".utf8)) }
            }
        }
    }

    // MARK: Metadata Working Group 2.0 §5.9, with Apple's additions

    private func movedMWG(
        _ regions: XMPElement, _ map: ContentMap, _ size: PixelSize
    ) -> [Change]? {
        var changes: [Change] = []
        var applied = map.source
        if let dimensions = regions.field("mwg-rs:AppliedToDimensions", names)?.element {
            let (width, height) = (
                dimensions.field("stDim:w", names), dimensions.field("stDim:h", names)
            )
            guard let width, let height else { return nil }
            if let w = number(width).flatMap(Int.init(exactly:)), w > 0,
                let h = number(height).flatMap(Int.init(exactly:)), h > 0
            {
                applied = PixelSize(width: w, height: h)
            }
            changes = [(width.value, text(size.width)), (height.value, text(size.height))]
        }
        guard let list = regions.field("mwg-rs:RegionList", names)?.element else { return nil }
        var kept = 0
        for item in list.items(names) {
            guard let moved = movedMWG(item, map, applied, size) else {
                changes.append((item.whole, []))
                continue
            }
            kept += 1
            changes += moved
        }
        return kept > 0 ? changes : nil
    }

    private func movedMWG(
        _ region: XMPElement, _ map: ContentMap, _ applied: PixelSize, _ size: PixelSize
    ) -> [Change]? {
        guard let area = region.field("mwg-rs:Area", names)?.element else { return nil }
        func field(_ name: String) -> XMPElement.Field? { area.field("stArea:" + name, names) }
        guard let x = field("x"), let y = field("y") else { return nil }
        let isPixels = field("unit").map { text($0.value) == "pixel" } ?? false
        let unit = isPixels ? applied : PixelSize(width: 1, height: 1)
        let unitNow = isPixels ? size : unit
        let (w, h) = (Double(unit.width), Double(unit.height))
        let (width, height) = (field("w"), field("h"))
        guard let left = number(x), let top = number(y) else { return nil }
        let sides = [width, height].map { $0.map { number($0) ?? .nan } ?? 0 }
        guard sides.allSatisfy(\.isFinite),
            let moved = map.moved(
                ContentMap.Area(
                    x: left / w, y: top / h, width: sides[0] / w, height: sides[1] / h))
        else { return nil }
        var changes: [Change] = []
        func set(_ field: XMPElement.Field?, _ value: Double, _ unit: Int) {
            if let field { changes.append((field.value, text(value * Double(unit)))) }
        }
        set(x, moved.x, unitNow.width)
        set(y, moved.y, unitNow.height)
        set(width, moved.width, unitNow.width)
        set(height, moved.height, unitNow.height)
        // The diameter of a circle, in units of the shorter side.
        if let diameter = field("d"), let value = number(diameter),
            let scale = map.scale(at: left / w, top / h)
        {
            let old = isPixels ? 1 : Double(min(map.source.width, map.source.height))
            let now = isPixels ? 1 : Double(min(size.width, size.height))
            changes.append((diameter.value, text(value * old * scale / now)))
        }
        return changes + turned(region, map)
    }

    /// Returns the removal of angles, which are those of the original.
    private func turned(_ region: XMPElement, _ map: ContentMap) -> [Change] {
        guard map.cropAndScale == nil else { return [] }
        var found = region.field("mwg-rs:Rotation", names).map { [$0] } ?? []
        if let more = region.field("mwg-rs:Extensions", names)?.element {
            found += ["AngleInfoRoll", "AngleInfoYaw"]
                .compactMap { more.field("apple-fi:" + $0, names) }
        }
        return found.map { ($0.whole, []) }
    }

    // MARK: Microsoft's People Tagging

    private func movedMP(_ info: XMPElement, _ map: ContentMap) -> [Change]? {
        guard let list = info.field("MPRI:Regions", names)?.element else { return nil }
        var changes: [Change] = []
        var kept = 0
        for item in list.items(names) {
            // A person may be named without a place.
            guard let rectangle = item.field("MPReg:Rectangle", names) else {
                kept += 1
                continue
            }
            let parts = text(rectangle.value).split(separator: ",").map { part in
                Double(part.filter { !$0.isWhitespace }) ?? .nan
            }
            guard parts.count == 4, parts.allSatisfy(\.isFinite),
                let moved = map.moved(
                    ContentMap.Area(
                        x: parts[0] + parts[2] / 2, y: parts[1] + parts[3] / 2, width: parts[2],
                        height: parts[3]))
            else {
                changes.append((item.whole, []))
                continue
            }
            kept += 1
            let numbers = [
                moved.x - moved.width / 2, moved.y - moved.height / 2, moved.width, moved.height,
            ]
            changes.append(
                (rectangle.value, Array(numbers.map(Self.decimal).joined(separator: ", ").utf8)))
        }
        return kept > 0 ? changes : nil
    }

    // MARK: IPTC Photo Metadata 2019, "Image Region"

    private func movedIPTC(_ regions: XMPElement, _ map: ContentMap) -> [Change]? {
        var changes: [Change] = []
        var kept = 0
        for item in regions.items(names) {
            guard let moved = movedIPTC(region: item, map) else {
                changes.append((item.whole, []))
                continue
            }
            kept += 1
            changes += moved
        }
        return kept > 0 ? changes : nil
    }

    private func movedIPTC(region: XMPElement, _ map: ContentMap) -> [Change]? {
        guard let boundary = region.field("Iptc4xmpExt:RegionBoundary", names)?.element else {
            return []
        }
        func field(_ name: String, of element: XMPElement) -> XMPElement.Field? {
            element.field("Iptc4xmpExt:" + name, names)
        }
        let isPixels = field("rbUnit", of: boundary).map { text($0.value) == "pixel" } ?? false
        let unit = isPixels ? map.source : PixelSize(width: 1, height: 1)
        let unitNow = isPixels ? map.size : unit
        let (w, h) = (Double(unit.width), Double(unit.height))
        func position(_ element: XMPElement) -> (x: XMPElement.Field, y: XMPElement.Field)? {
            guard let x = field("rbX", of: element), let y = field("rbY", of: element) else {
                return nil
            }
            return (x, y)
        }
        func values(_ position: (x: XMPElement.Field, y: XMPElement.Field)) -> (Double, Double)? {
            guard let x = number(position.x), let y = number(position.y) else { return nil }
            return (x / w, y / h)
        }
        func set(_ field: XMPElement.Field, _ value: Double, _ unit: Int) -> Change {
            (field.value, text(value * Double(unit)))
        }
        if let vertices = field("rbVertices", of: boundary)?.element {
            let positions = vertices.items(names).compactMap(position)
            let old = positions.compactMap(values)
            let moved = old.compactMap { map.moved($0.0, $0.1) }
            guard !moved.isEmpty, moved.count == positions.count else { return nil }
            let middle = moved.reduce(Point(0, 0)) { Point($0.x + $1.x, $0.y + $1.y) }
            let count = Double(moved.count)
            guard (0...count).contains(middle.x), (0...count).contains(middle.y) else { return nil }
            return zip(positions, moved).flatMap { position, point in
                [
                    set(position.x, min(max(point.x, 0), 1), unitNow.width),
                    set(position.y, min(max(point.y, 0), 1), unitNow.height),
                ]
            }
        }
        guard let place = position(boundary), let (x, y) = values(place) else { return nil }
        if let radius = field("rbRx", of: boundary) {
            guard let value = number(radius), let scale = map.scale(at: x, y),
                let moved = map.moved(ContentMap.Area(x: x, y: y))
            else { return nil }
            // A radius is in units of the width.
            let pixels = value / w * Double(map.source.width) * scale
            return [
                set(place.x, moved.x, unitNow.width), set(place.y, moved.y, unitNow.height),
                set(radius, pixels / Double(map.size.width), unitNow.width),
            ]
        }
        guard let width = field("rbW", of: boundary), let height = field("rbH", of: boundary),
            let across = number(width), let down = number(height),
            let moved = map.moved(
                ContentMap.Area(
                    x: x + across / w / 2, y: y + down / h / 2, width: across / w, height: down / h)
            )
        else { return nil }
        return [
            set(place.x, moved.x - moved.width / 2, unitNow.width),
            set(place.y, moved.y - moved.height / 2, unitNow.height),
            set(width, moved.width, unitNow.width), set(height, moved.height, unitNow.height),
        ]
    }

    // MARK: Values

    private func text(_ range: Range<Int>) -> String { Self.text(bytes[range]) }
    private func number(_ field: XMPElement.Field) -> Double? {
        Double(text(field.value)).flatMap { $0.isFinite ? $0 : nil }
    }
    private func text(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }
    private func text(_ number: Double) -> [UInt8] { Array(Self.decimal(number).utf8) }

    /// Returns a number with up to six digits after the point: a tenth of a pixel of 100,000. XMP's numbers have no exponent.
    private static func decimal(_ number: Double) -> String {
        let scaled = (abs(number) * 1e6).rounded()
        guard scaled < 1e18 else { return "0" }
        let (whole, rest) = Int(scaled).quotientAndRemainder(dividingBy: 1_000_000)
        let sign = number < 0 && scaled > 0 ? "-" : ""
        guard rest > 0 else { return "\(sign)\(whole)" }
        let digits = String(1_000_000 + rest).dropFirst()
        let last = digits.lastIndex { $0 != "0" } ?? digits.startIndex
        return "\(sign)\(whole).\(digits[...last])"
    }
}

/// The position of a photo's subject: 2 numbers for a point, 3 for a circle, 4 for a rectangle.
///
/// The centre counts from the left and from the top of the stored picture; then follow the diameter, or width and height. Source:
/// EXIF 2.32 §4.6.5, tag 9214.
struct SubjectArea: Equatable {
    let numbers: [Int]

    init?(_ numbers: [Int]) {
        guard (2...4).contains(numbers.count) else { return nil }
        self.numbers = numbers
    }

    /// Returns the area in the edited picture; nil if its centre is outside of it, or unknown.
    func moved(_ positions: PictureFacts.Positions) -> SubjectArea? {
        guard case .moved(let geometry) = positions else { return positions == .same ? self : nil }
        guard let toResult = geometry.toSource.inverse else { return nil }
        let (source, size) = (geometry.source, geometry.size)
        let centre = Point(Double(numbers[0]), Double(source.height) - Double(numbers[1]))
        let moved = toResult(centre)
        guard (0..<Double(size.width)).contains(moved.x), moved.y > 0,
            moved.y <= Double(size.height)
        else { return nil }
        let result = [moved.x, Double(size.height) - moved.y] + lengths(toResult, centre)
        guard result.allSatisfy({ $0.isFinite && (0...65_535).contains($0.rounded()) }) else {
            return nil
        }
        return SubjectArea(result.map { Int($0.rounded()) })
    }

    /// Returns the diameter, or width and height, of the bounds of the moved rectangle.
    private func lengths(_ toResult: Homography, _ centre: Point) -> [Double] {
        guard numbers.count > 2 else { return [] }
        let (across, down) = (Double(numbers[2]) / 2, Double(numbers[numbers.count - 1]) / 2)
        let corners = [(-1.0, -1.0), (1, -1), (1, 1), (-1, 1)].map { side in
            toResult(Point(centre.x + side.0 * across, centre.y + side.1 * down))
        }
        let (x, y) = (corners.map(\.x).sorted(), corners.map(\.y).sorted())
        let box = [x[3] - x[0], y[3] - y[0]]
        return numbers.count == 3 ? [(box[0] * box[1]).squareRoot()] : box
    }
}
