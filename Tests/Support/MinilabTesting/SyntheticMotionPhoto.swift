/// Motion photos in the layouts of phones: a photo with XMP, optionally a gain map, and a movie.
public struct SyntheticMotionPhoto: Sendable {
    /// The ways in which a photo's XMP locates its video.
    public enum Form: String, Sendable, CaseIterable {
        /// Motion Photo 1.0: a directory of the container's items.
        case directory
        /// The older way: the distance from the video's start to the end of the file.
        case microVideo
        /// Both at once.
        case both
    }

    /// The bytes of the movie.
    public var movie: [UInt8]
    /// The way in which the XMP locates it.
    public var form = Form.directory
    /// The bytes of a gain map between photo and movie, which the directory lists.
    public var map: [UInt8] = []
    /// Bytes after the movie that the directory counts as part of it, as on some phones.
    public var trailer: [UInt8] = []
    /// Bytes after the file that the directory does not list.
    public var garbage: [UInt8] = []
    /// The difference between the declared and the true length.
    public var lie = 0
    /// The time of the still in the movie, in microseconds.
    public var time = 200_000

    /// Creates a motion photo with a movie.
    public init(_ movie: [UInt8], form: Form = .directory) {
        (self.movie, self.form) = (movie, form)
    }

    /// The declarations of the namespaces that the photo's XMP uses for gain map and video.
    public static let spaces = [
        #"xmlns:GCamera="http://ns.google.com/photos/1.0/camera/""#,
        #"xmlns:OpCamera="http://ns.oplus.com/photos/1.0/camera/""#,
        #"xmlns:Container="http://ns.google.com/photos/1.0/container/""#,
        #"xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/""#,
        #"xmlns:Item="http://ns.google.com/photos/1.0/container/item/""#,
    ]

    /// Returns the photo's XMP.
    ///
    /// - Parameter photoType: the media type of the photo's file.
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

    /// Returns a file as Samsung's older phones wrote it: a JPEG without XMP, and a trailer in which the video is a
    /// block.
    public func samsungFile(of jpeg: [UInt8]) -> [UInt8] { jpeg + samsungTrailer() }

    /// Returns the trailer: a block with a time, a block with the video, and a directory of both.
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

    /// Returns the motion photo's file for a JPEG without XMP.
    public func file(of jpeg: [UInt8]) -> [UInt8] {
        let xmp = Bytes.segment(0xE1, Bytes.text("http://ns.adobe.com/xap/1.0/\0") + packet())
        return jpeg[..<2] + xmp + jpeg[2...] + map + movie + trailer + garbage
    }
}
