/// Motion photos as phones write them: a photo, what its XMP says, a gain map perhaps, a movie.
public struct SyntheticMotionPhoto: Sendable {
    /// How a photo says where its video lies.
    public enum Form: String, Sendable, CaseIterable {
        /// Motion Photo 1.0: a directory of the container.
        case directory
        /// The way of before: how far from the file's end the video begins.
        case microVideo
        /// Both at once.
        case both
    }

    /// The movie's bytes.
    public var movie: [UInt8]
    /// How it is named.
    public var form = Form.directory
    /// Bytes between photo and movie: a gain map, which the directory names.
    public var map: [UInt8] = []
    /// Bytes behind the movie that are counted to it, as some phones write them.
    public var trailer: [UInt8] = []
    /// Bytes behind the file that nobody names.
    public var garbage: [UInt8] = []
    /// By how much the length that is said differs from the true one.
    public var lie = 0
    /// When the still was taken, in microseconds.
    public var time = 200_000

    /// One with a movie.
    public init(_ movie: [UInt8], form: Form = .directory) {
        (self.movie, self.form) = (movie, form)
    }

    /// The declarations of the name spaces by which the photo's XMP tells of gain map and video.
    public static let spaces = [
        #"xmlns:GCamera="http://ns.google.com/photos/1.0/camera/""#,
        #"xmlns:OpCamera="http://ns.oplus.com/photos/1.0/camera/""#,
        #"xmlns:Container="http://ns.google.com/photos/1.0/container/""#,
        #"xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/""#,
        #"xmlns:Item="http://ns.google.com/photos/1.0/container/item/""#,
    ]

    /// The photo's XMP.
    ///
    /// - Parameter photoType: of the photo's file.
    public func packet(photoType: String = "image/jpeg") -> [UInt8] {
        let length = movie.count + trailer.count + lie
        var marks = ""
        var items = ""
        func item(_ semantic: String, _ type: String, _ length: Int, _ padding: Int = 0) {
            items +=
                #"<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="\#(type)" Item:Semantic="\#(semantic)" "#
                + #"Item:Length="\#(length)" Item:Padding="\#(padding)"/></rdf:li>"#
        }
        item("Primary", photoType, 0, photoType == "image/jpeg" ? 0 : 8)
        if !map.isEmpty {
            marks += #" hdrgm:Version="1.0""#
            item("GainMap", "image/jpeg", map.count)
        }
        if form != .microVideo {
            marks +=
                #" GCamera:MotionPhoto="1" GCamera:MotionPhotoVersion="1" GCamera:MotionPhotoPresentationTimestampUs="\#(time)""#
            item("MotionPhoto", "video/mp4", length)
        }
        if form != .directory {
            marks +=
                #" GCamera:MicroVideo="1" GCamera:MicroVideoVersion="1" GCamera:MicroVideoOffset="\#(length)""#
                + #" GCamera:MicroVideoPresentationTimestampUs="\#(time)""#
        }
        let spaces = Self.spaces.joined(separator: " ")
        let directory =
            form == .microVideo && map.isEmpty
            ? "" : "<Container:Directory><rdf:Seq>\(items)</rdf:Seq></Container:Directory>"
        return Array(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" \(spaces) OpCamera:VideoLength="\(length)"\(marks)>\
            <dc:rights>Nobody</dc:rights>\(directory)</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }

    /// The file of a JPEG without XMP, as Samsung's older phones wrote it: the video is a block of a trailer, and no XMP tells of it.
    public func samsungFile(of jpeg: [UInt8]) -> [UInt8] { jpeg + samsungTrailer() }

    /// The trailer: a block of a time, a block of the video, a directory of both.
    public func samsungTrailer() -> [UInt8] {
        func block(_ type: Int, _ name: String, _ data: [UInt8]) -> [UInt8] {
            [0, 0] + Bytes.little(type, 2) + Bytes.little(name.utf8.count) + Bytes.text(name) + data
        }
        let blocks = [
            block(0x0A01, "Image_UTC_Data", Bytes.text("1458170015363")),
            block(0x0A30, "MotionPhoto_Data", movie),
        ]
        var entries: [UInt8] = []
        var distance = blocks.reduce(0) { $0 + $1.count }
        for (type, block) in zip([0x0A01, 0x0A30], blocks) {
            entries += [0, 0] + Bytes.little(type, 2) + Bytes.little(distance + lie)
            entries += Bytes.little(block.count)
            distance -= block.count
        }
        let directory =
            Bytes.text("SEFH") + Bytes.little(106) + Bytes.little(blocks.count) + entries
        return blocks.flatMap(\.self) + directory + Bytes.little(directory.count)
            + Bytes.text("SEFT")
    }

    /// The file of a JPEG without XMP.
    public func file(of jpeg: [UInt8]) -> [UInt8] {
        let xmp = Bytes.segment(0xE1, Bytes.text("http://ns.adobe.com/xap/1.0/\0") + packet())
        return jpeg[..<2] + xmp + jpeg[2...] + map + movie + trailer + garbage
    }
}
