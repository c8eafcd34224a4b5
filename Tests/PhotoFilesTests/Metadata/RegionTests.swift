import Edits
import PhotoFiles
import Testing

/// A photo of 320 × 200 with faces, as programs describe them.
@Suite("Regions of faces") struct RegionTests {
    private static let photo = PixelSize(width: 320, height: 200)

    private static let spaces = """
        xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#" \
        xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#" xmlns:MP="http://ns.microsoft.com/photo/1.2/" \
        xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#" xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#" \
        xmlns:apple-fi="http://ns.apple.com/faceinfo/1.0/" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" \
        xmlns:exif="http://ns.adobe.com/exif/1.0/"
        """

    private static func packet(_ properties: String) -> [UInt8] {
        XMP.packet(of: "<rdf:Description rdf:about='' \(spaces)>\(properties)</rdf:Description>")
    }

    /// The face of 0.25, 0.4, 0.1, 0.2 as exiftool writes it: elements, in alphabetical order.
    private static func elements(_ more: String = "") -> String {
        """
        <mwg-rs:Regions rdf:parseType='Resource'><mwg-rs:AppliedToDimensions rdf:parseType='Resource'>
        <stDim:h>200</stDim:h><stDim:unit>pixel</stDim:unit><stDim:w>320</stDim:w></mwg-rs:AppliedToDimensions>
        <mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType='Resource'><mwg-rs:Area rdf:parseType='Resource'>
        <stArea:h>0.2</stArea:h><stArea:unit>normalized</stArea:unit><stArea:w>0.1</stArea:w><stArea:x>0.25</stArea:x>
        <stArea:y>0.4</stArea:y></mwg-rs:Area><mwg-rs:Name>Alpha</mwg-rs:Name>\(more)</rdf:li></rdf:Bag></mwg-rs:RegionList>
        </mwg-rs:Regions>
        """
    }

    /// The same as Lightroom writes it: attributes, and a description within the item.
    private static let attributes = """
        <mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:AppliedToDimensions stDim:w="320" stDim:h="200" stDim:unit="pixel"/>
        <mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description mwg-rs:Name="Alpha" mwg-rs:Type="Face"><mwg-rs:Area
        stArea:x="0.25" stArea:y="0.4" stArea:w="0.1" stArea:h="0.2" stArea:unit="normalized"/></rdf:Description></rdf:li>
        </rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>
        """

    private func moved(_ packet: [UInt8], _ geometry: Geometry) throws -> [UInt8] {
        try #require(
            XMP.revised(
                packet, to: PictureFacts(size: geometry.size, positions: .moved(geometry))))
    }

    /// The middle and the sides of the first face, and the size to which it applies.
    private func face(_ packet: [UInt8]) -> [Double] {
        ["stArea:x", "stArea:y", "stArea:w", "stArea:h", "stDim:w", "stDim:h"]
            .compactMap { XMP.values($0, in: packet).first.flatMap(Double.init) }
    }

    private static let scale = Geometry(
        of: photo, size: PixelSize(width: 160, height: 100),
        toSource: Homography(affine: 2, 0, 0, 0, 2, 0))
    private static let crop = Geometry(
        of: photo, crop: PixelRectangle(x: 40, y: 60, width: 160, height: 120))

    private static let cases: [(Geometry, [Double])] = [
        (scale, [0.25, 0.4, 0.1, 0.2, 160, 100]),
        (crop, [0.25, 0.5, 0.2, 0.333333, 160, 120]),
        (Geometry(of: photo, turn: .right), [0.6, 0.25, 0.2, 0.1, 200, 320]),
        (Geometry(of: photo, turn: .left), [0.4, 0.75, 0.2, 0.1, 200, 320]),
        (Geometry(of: photo, turn: .half), [0.75, 0.6, 0.1, 0.2, 320, 200]),
        (Geometry(of: photo, turn: .mirrored), [0.75, 0.4, 0.1, 0.2, 320, 200]),
        (Geometry(of: photo, turn: .flipped), [0.25, 0.6, 0.1, 0.2, 320, 200]),
        // 160 pixels wide and 140 high, then turned: 0.25, 0.5 of it, 32 × 40.
        (
            crop.then(Geometry(of: crop.size, turn: .right)),
            [0.5, 0.25, 0.333333, 0.2, 120, 160]
        ),
        // The left half of the face is cut away, and its middle is not: 16 of 32 pixels are left.
        (
            Geometry(of: photo, crop: PixelRectangle(x: 80, y: 0, width: 240, height: 200)),
            [0.033333, 0.4, 0.066667, 0.2, 240, 200]
        ),
    ]

    @Test(arguments: cases)
    func `are where the face is after an edit`(_ geometry: Geometry, _ wanted: [Double]) throws {
        for text in [Self.elements(), Self.attributes] {
            let found = face(try moved(Self.packet(text), geometry))
            #expect(found.count == 6)
            for (found, wanted) in zip(found, wanted) {
                #expect(abs(found - wanted) < 1e-6, "\(geometry): \(found), expected \(wanted)")
            }
        }
    }

    @Test func `stay as they are while nothing moves`() throws {
        for text in [Self.elements(), Self.attributes] {
            let packet = Self.packet(text)
            #expect(XMP.revised(packet, to: PictureFacts(size: Self.photo)) == packet)
        }
    }

    @Test func `cover the face after a small rotation, and lie in the picture`() throws {
        let (s, c) = (0.08715574, 0.9961947)
        let turned = Geometry(
            of: Self.photo, size: Self.photo,
            toSource: Homography(affine: c, -s, 8, s, c, -12))
        let found = face(try moved(Self.packet(Self.elements()), turned))
        #expect(found[2] > 0.1 && found[2] < 0.2 && found[3] > 0.2 && found[3] < 0.3)
        #expect(found[0] - found[2] / 2 >= 0 && found[0] + found[2] / 2 <= 1)
        // The middle is at 80, 120 from the bottom left of the photo.
        let toResult = try #require(turned.toSource.inverse)
        let middle = toResult(Point(80, 120))
        #expect(abs(found[0] * 320 - middle.x) < 1 && abs((1 - found[1]) * 200 - middle.y) < 1)
    }

    @Test func `go when the middle is cut away, the others stay, and the rest of the packet too`()
        throws
    {
        let second = """
            </rdf:li><rdf:li rdf:parseType='Resource'><mwg-rs:Area rdf:parseType='Resource'><stArea:x>0.9</stArea:x>
            <stArea:y>0.9</stArea:y><stArea:w>0.05</stArea:w><stArea:h>0.05</stArea:h></mwg-rs:Area><mwg-rs:Name>Beta</mwg-rs:Name>
            """
        let packet = Self.packet("<a:b>kept</a:b>" + Self.elements(second))
        let left = try moved(
            packet,
            Geometry(of: Self.photo, crop: PixelRectangle(x: 0, y: 0, width: 160, height: 200))
        )
        #expect(XMP.values("mwg-rs:Name", among: 9, in: left) == ["Alpha"])
        let right = try moved(
            packet,
            Geometry(of: Self.photo, crop: PixelRectangle(x: 160, y: 0, width: 160, height: 200)))
        #expect(XMP.values("mwg-rs:Name", among: 9, in: right) == ["Beta"])
        let middle = try moved(
            packet,
            Geometry(of: Self.photo, crop: PixelRectangle(x: 120, y: 60, width: 80, height: 60)))
        #expect(XMP.values("a:b", in: middle) == ["kept"])
        #expect(!String(decoding: middle, as: UTF8.self).contains("<mwg-rs:"))
    }

    @Test func `of Microsoft's and of IPTC's move too`() throws {
        let microsoft = """
            <MP:RegionInfo rdf:parseType="Resource"><MPRI:Regions><rdf:Bag>
            <rdf:li MPReg:PersonDisplayName="Alpha" MPReg:Rectangle="0.2, 0.3, 0.1, 0.2"/>
            <rdf:li MPReg:PersonDisplayName="Beta" MPReg:Rectangle="0.9, 0.9, 0.05, 0.05"/>
            <rdf:li MPReg:PersonDisplayName="Gamma"/></rdf:Bag></MPRI:Regions></MP:RegionInfo>
            """
        let iptc = """
            <Iptc4xmpExt:ImageRegion><rdf:Bag><rdf:li rdf:parseType="Resource"><Iptc4xmpExt:RegionBoundary
            rdf:parseType="Resource"><Iptc4xmpExt:rbShape>rectangle</Iptc4xmpExt:rbShape><Iptc4xmpExt:rbUnit>relative</Iptc4xmpExt:rbUnit>
            <Iptc4xmpExt:rbX>0.2</Iptc4xmpExt:rbX><Iptc4xmpExt:rbY>0.3</Iptc4xmpExt:rbY><Iptc4xmpExt:rbW>0.1</Iptc4xmpExt:rbW>
            <Iptc4xmpExt:rbH>0.2</Iptc4xmpExt:rbH></Iptc4xmpExt:RegionBoundary></rdf:li></rdf:Bag></Iptc4xmpExt:ImageRegion>
            """
        let found = try moved(Self.packet(microsoft + iptc), Self.crop)
        let text = String(decoding: found, as: UTF8.self)
        #expect(text.contains(#"MPReg:Rectangle="0.15, 0.333333, 0.2, 0.333333""#), "\(text)")
        #expect(text.contains("Gamma") && !text.contains("Beta"))
        let numbers = ["rbX", "rbY", "rbW", "rbH"].compactMap {
            XMP.values("Iptc4xmpExt:" + $0, in: found).first
        }
        #expect(numbers == ["0.15", "0.333333", "0.2", "0.333333"])
    }

    @Test func `that are polygons, circles or points of pixels move too`() throws {
        func iptc(_ boundary: String) -> [UInt8] {
            Self.packet(
                """
                <Iptc4xmpExt:ImageRegion><rdf:Bag><rdf:li><rdf:Description><Iptc4xmpExt:RegionBoundary>\(boundary)\
                </Iptc4xmpExt:RegionBoundary></rdf:Description></rdf:li></rdf:Bag></Iptc4xmpExt:ImageRegion>
                """)
        }
        let circle = try moved(
            iptc(
                """
                <rdf:Description Iptc4xmpExt:rbUnit="pixel" Iptc4xmpExt:rbX="80" Iptc4xmpExt:rbY="80" Iptc4xmpExt:rbRx="16"/>
                """), Self.scale)
        #expect(XMP.values("Iptc4xmpExt:rbX", in: circle) == ["40"])
        #expect(XMP.values("Iptc4xmpExt:rbRx", in: circle) == ["8"])
        let polygon = try moved(
            iptc(
                """
                <rdf:Description><Iptc4xmpExt:rbVertices><rdf:Seq><rdf:li Iptc4xmpExt:rbX="0.25" Iptc4xmpExt:rbY="0.3"/>
                <rdf:li Iptc4xmpExt:rbX="0.3" Iptc4xmpExt:rbY="0.5"/></rdf:Seq></Iptc4xmpExt:rbVertices></rdf:Description>
                """), Geometry(of: Self.photo, turn: .half))
        #expect(XMP.values("Iptc4xmpExt:rbX", among: 2, in: polygon) == ["0.75", "0.7"])
        #expect(XMP.values("Iptc4xmpExt:rbY", among: 2, in: polygon) == ["0.7", "0.5"])
    }

    @Test func `lose angles that a turn makes false, and keep them in a crop`() throws {
        let apple = """
            <mwg-rs:Extensions rdf:parseType="Resource"><apple-fi:AngleInfoRoll>270</apple-fi:AngleInfoRoll>
            <apple-fi:FaceID>7</apple-fi:FaceID></mwg-rs:Extensions>
            """
        let packet = Self.packet(Self.elements(apple))
        let turned = try moved(packet, Geometry(of: Self.photo, turn: .right))
        #expect(XMP.values("apple-fi:AngleInfoRoll", in: turned).isEmpty)
        #expect(XMP.values("apple-fi:FaceID", in: turned) == ["7"])
        let cropped = try moved(packet, Self.crop)
        #expect(XMP.values("apple-fi:AngleInfoRoll", in: cropped) == ["270"])
    }

    @Test func `and the subject move together`() throws {
        let subject = """
            <exif:SubjectArea><rdf:Seq><rdf:li>80</rdf:li><rdf:li>80</rdf:li><rdf:li>32</rdf:li><rdf:li>40</rdf:li></rdf:Seq>\
            </exif:SubjectArea>
            """
        let found = try moved(Self.packet(subject), Self.crop)
        #expect(XMP.values("exif:SubjectArea", in: found) == ["40", "60", "32", "40"])
        let away = try moved(
            Self.packet(subject),
            Geometry(of: Self.photo, crop: PixelRectangle(x: 160, y: 0, width: 160, height: 200)))
        #expect(XMP.values("exif:SubjectArea", in: away).isEmpty)
    }

    @Test(arguments: [
        "<mwg-rs:Regions>", "<mwg-rs:Regions><mwg-rs:RegionList>",
        "<mwg-rs:Regions><a><b></a></b></mwg-rs:Regions>", "<mwg-rs:Regions/>",
        "<mwg-rs:Regions><!-- </mwg-rs:Regions>",
        String(repeating: "<mwg-rs:Regions>", count: 4_000),
        "<mwg-rs:Regions>" + String(repeating: "<a>", count: 20_000) + "</mwg-rs:Regions>",
    ])
    func `that are no regions do no harm`(_ text: String) throws {
        _ = XMP.revised(
            Self.packet(text),
            to: PictureFacts(size: Self.scale.size, positions: .moved(Self.scale)))
    }
}

@Suite("The place in a panorama") struct PanoramaTests {
    private static let photo = PixelSize(width: 800, height: 400)

    private static func packet(
        full: (Int, Int) = (800, 400), cropped: (Int, Int) = (800, 400), at: (Int, Int) = (0, 0),
        more: String = ""
    ) -> [UInt8] {
        XMP.packet(
            of: """
                <rdf:Description rdf:about='' xmlns:GPano='http://ns.google.com/photos/1.0/panorama/' a:b='1'
                GPano:FullPanoWidthPixels='\(full.0)' GPano:FullPanoHeightPixels='\(full.1)' \(more)>
                <GPano:CroppedAreaImageWidthPixels>\(cropped.0)</GPano:CroppedAreaImageWidthPixels>
                <GPano:CroppedAreaImageHeightPixels>\(cropped.1)</GPano:CroppedAreaImageHeightPixels>
                <GPano:CroppedAreaLeftPixels>\(at.0)</GPano:CroppedAreaLeftPixels>
                <GPano:CroppedAreaTopPixels>\(at.1)</GPano:CroppedAreaTopPixels>
                <GPano:ProjectionType>equirectangular</GPano:ProjectionType></rdf:Description>
                """)
    }

    /// Full width and height, cropped width and height, left and top; none if there is no panorama.
    private func place(_ packet: [UInt8], _ geometry: Geometry) throws -> [Int] {
        let found = try #require(
            XMP.revised(
                packet, to: PictureFacts(size: geometry.size, positions: .moved(geometry))))
        #expect(XMP.values("a:b", in: found) == ["1"])
        let names = [
            "FullPanoWidthPixels", "FullPanoHeightPixels", "CroppedAreaImageWidthPixels",
            "CroppedAreaImageHeightPixels", "CroppedAreaLeftPixels", "CroppedAreaTopPixels",
        ]
        let values = names.compactMap {
            XMP.values("GPano:" + $0, in: found).first.flatMap(Int.init)
        }
        if values.isEmpty {
            #expect(!String(decoding: found, as: UTF8.self).contains("GPano:P"))
        }
        return values
    }

    private func scaled(_ width: Int, _ height: Int) -> Geometry {
        Geometry(
            of: Self.photo, size: PixelSize(width: width, height: height),
            toSource: Homography(
                affine: 800 / Double(width), 0, 0, 0, 400 / Double(height), 0))
    }

    private static let crop = Geometry(
        of: photo, crop: PixelRectangle(x: 200, y: 100, width: 400, height: 200))

    @Test func `is true after a crop, a scale, and both`() throws {
        let whole = Self.packet()
        #expect(try place(whole, Self.crop) == [800, 400, 400, 200, 200, 100])
        // 50 from the bottom: 150 from the top.
        let low = Geometry(
            of: Self.photo, crop: PixelRectangle(x: 0, y: 50, width: 800, height: 200))
        #expect(try place(whole, low) == [800, 400, 800, 200, 0, 150])
        #expect(try place(whole, scaled(400, 200)) == [400, 200, 400, 200, 0, 0])
        // A third, rounded to whole pixels.
        #expect(try place(whole, scaled(267, 133)) == [267, 133, 267, 133, 0, 0])
        let half = Geometry(
            of: Self.crop.size, size: PixelSize(width: 200, height: 100),
            toSource: Homography(affine: 2, 0, 0, 0, 2, 0))
        #expect(try place(whole, Self.crop.then(half)) == [400, 200, 200, 100, 100, 50])
        // A part of a sphere, from a camera that counts twice the pixels of the file.
        let part = Self.packet(full: (3_200, 1_600), cropped: (1_600, 800), at: (400, 200))
        #expect(try place(part, Self.crop) == [1_600, 800, 400, 200, 400, 200])
    }

    @Test func `goes when it is false: turned, mirrored, distorted or stretched`() throws {
        for geometry in [
            Geometry(of: Self.photo, turn: .right), Geometry(of: Self.photo, turn: .half),
            Geometry(of: Self.photo, turn: .mirrored), scaled(400, 300),
            Geometry(
                of: Self.photo, size: Self.photo,
                toSource: Homography(affine: 0.99, 0.1, 0, -0.1, 0.99, 0)),
        ] {
            #expect(try place(Self.packet(), geometry).isEmpty, "\(geometry)")
        }
        let unknown = try #require(
            XMP.revised(
                Self.packet(), to: PictureFacts(size: Self.photo, positions: .unknown)))
        #expect(XMP.values("GPano:FullPanoWidthPixels", in: unknown).isEmpty)
    }

    @Test func `has the part without black corners where it is left`() throws {
        let names = ["Left", "Top", "Width", "Height"].map { "LargestValidInteriorRect" + $0 }
        func interior(_ rectangle: [Int], _ geometry: Geometry) throws -> [String] {
            let more = zip(names, rectangle).map { "GPano:\($0)='\($1)'" }.joined(separator: " ")
            let found = try #require(
                XMP.revised(
                    Self.packet(more: more),
                    to: PictureFacts(size: geometry.size, positions: .moved(geometry))))
            return names.compactMap { XMP.values("GPano:" + $0, in: found).first }
        }
        #expect(try interior([100, 50, 600, 300], Self.crop) == ["0", "0", "400", "200"])
        #expect(try interior([300, 150, 100, 50], Self.crop) == ["100", "50", "100", "50"])
        #expect(try interior([0, 0, 100, 50], Self.crop).isEmpty)
    }
}
