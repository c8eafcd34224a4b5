/// The files that follow a photo in its file, as declared in the photo's XMP: a gain map, a video.
///
/// Sources: Ultra HDR 1.1 §"XMP", Google's "Motion Photo format 1.0". Lengths count only these files: readers count from the end of
/// the photo's file.
public struct Attachments: Sendable, Equatable {
    /// Bytes of a gain map's JPEG; nil without one, and in a HEIC, which stores the map as an item.
    public var mapBytes: Int?
    /// The video of a motion photo.
    public var video: Video?
    /// The media type of the photo's file.
    public let photoType: String

    /// A video to be written.
    public struct Video: Sendable, Equatable {
        /// Its bytes.
        public let bytes: Int
        /// Its media type.
        public let type: String
        /// Other facts about it in the XMP.
        public let claims: MotionVideo.Claims

        /// Makes a record.
        public init(bytes: Int, type: String, claims: MotionVideo.Claims) {
            (self.bytes, self.type, self.claims) = (bytes, type, claims)
        }
    }

    /// Creates the list of files that follow a photo.
    public init(mapBytes: Int? = nil, video: Video? = nil, photoType: String = "image/jpeg") {
        (self.mapBytes, self.video, self.photoType) = (mapBytes, video, photoType)
    }

    /// The `rdf:Description` of the photo's XMP.
    public var description: String {
        var spaces: [String] = []
        var marks: [String] = []
        if mapBytes != nil {
            spaces.append(#"xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/""#)
            marks.append(#"hdrgm:Version="1.0""#)
        }
        spaces += [
            #"xmlns:Container="http://ns.google.com/photos/1.0/container/""#,
            #"xmlns:Item="http://ns.google.com/photos/1.0/container/item/""#,
        ]
        if let video {
            spaces.append(#"xmlns:GCamera="http://ns.google.com/photos/1.0/camera/""#)
            marks += video.marks
        }
        let attributes = (spaces + marks).joined(separator: " ")
        let list = items.map {
            #"<rdf:li rdf:parseType="Resource"><Container:Item \#($0)/></rdf:li>"#
        }.joined()
        return """
            <rdf:Description rdf:about="" \(attributes)>\
            <Container:Directory><rdf:Seq>\(list)</rdf:Seq></Container:Directory></rdf:Description>
            """
    }

    /// The attributes of the directory's items: the photo and the files that follow it, in file order.
    private var items: [String] {
        func item(_ semantic: String, _ type: String) -> String {
            #"Item:Semantic="\#(semantic)" Item:Mime="\#(type)""#
        }
        var photo = item("Primary", photoType)
        // In a HEIC, the header of the video's box precedes the video.
        if video != nil, photoType != "image/jpeg" {
            photo += #" Item:Length="0" Item:Padding="\#(Self.boxHeaderBytes)""#
        }
        var items = [photo]
        if let mapBytes {
            items.append(item("GainMap", "image/jpeg") + #" Item:Length="\#(mapBytes)""#)
        }
        if let video {
            items.append(
                item("MotionPhoto", video.type)
                    + #" Item:Length="\#(video.bytes)" Item:Padding="0""#)
        }
        return items
    }

    /// Bytes before the content of the box `mpvd`.
    private static let boxHeaderBytes = 8

    /// Returns the header of the box for a HEIC's video; nil for a video of 4 GB or more.
    public static func boxHeader(ofVideo bytes: Int) -> [UInt8]? {
        guard let length = UInt32(exactly: bytes + boxHeaderBytes) else { return nil }
        return (0..<4).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
            + Array("mpvd".utf8)
    }

    /// Returns the photo's packet with these declarations.
    public func packet(_ packet: [UInt8]?) -> [UInt8] { XMP.adding(description, to: packet) }
}

extension Attachments.Video {
    /// The marks of a motion photo, also in the old form if the photo had it.
    fileprivate var marks: [String] {
        func marks(_ values: [(String, Int)]) -> [String] {
            values.map { #"GCamera:\#($0)="\#($1)""# }
        }
        let time = claims.stillMicroseconds
        let old: [(String, Int)] = [
            ("MicroVideo", 1), ("MicroVideoVersion", 1), ("MicroVideoOffset", bytes),
            ("MicroVideoPresentationTimestampUs", time),
        ]
        return marks([
            ("MotionPhoto", 1), ("MotionPhotoVersion", 1),
            ("MotionPhotoPresentationTimestampUs", time),
        ]) + (claims.isMicroVideo ? marks(old) : [])
    }
}
