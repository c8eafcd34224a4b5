/// The video of a motion photo, and the declarations about it in the photo's XMP, without its length.
///
/// Sources: Google, "Motion Photo format 1.0", and its forerunner of `MicroVideo`.
public struct MotionVideo: Sendable, Equatable {
    /// The byte range of the movie's boxes. Bytes after them, of which some phones write a few, are not part of it.
    public let byteRange: Range<Int>
    /// Declarations that stay valid when the frames are edited.
    public let claims: Claims

    /// Declarations in a photo's XMP.
    public struct Claims: Sendable, Equatable {
        /// The time of the still, in microseconds from the video's beginning; -1 means unknown.
        public let stillMicroseconds: Int
        /// Whether the photo is marked in the form of version 1.0, and in the older form.
        public let isMotionPhoto: Bool, isMicroVideo: Bool

        /// Reads a photo's packet.
        public init(_ packet: [UInt8]) {
            func number(_ name: String) -> Int? {
                XMP.values(name, in: packet).first.flatMap(Int.init)
            }
            isMotionPhoto = XMP.values("GCamera:MotionPhoto", in: packet).first == "1"
            isMicroVideo = number("GCamera:MicroVideoOffset") != nil
            let time =
                number("GCamera:MotionPhotoPresentationTimestampUs")
                ?? number("GCamera:MicroVideoPresentationTimestampUs")
            stillMicroseconds = time.map { max(-1, $0) } ?? -1
        }

        private init(_ claims: Claims, stillMicroseconds: Int) {
            (isMotionPhoto, isMicroVideo) = (claims.isMotionPhoto, claims.isMicroVideo)
            self.stillMicroseconds = stillMicroseconds
        }

        /// Returns the declarations for a video of this duration: a still after its end has an unknown time.
        public func within(seconds: Double) -> Claims {
            Double(stillMicroseconds) / 1e6 <= seconds
                ? self : Claims(self, stillMicroseconds: -1)
        }
    }

    /// Finds the boxes of a movie at an offset.
    ///
    /// - Parameter end: the declared end of the video.
    /// - Returns: nil if no movie begins there.
    init?(at start: Int, before end: Int, _ packet: [UInt8], _ file: inout FileWindow) {
        guard start > 0, start < end, file.has("ftyp", at: start + 4) else { return nil }
        let boxes = file.boxes(in: start..<min(end, file.length), atMost: Self.boxesMax)
            .prefix { !$0.isCutOff && $0.type.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
        guard let last = boxes.last else { return nil }
        byteRange = start..<last.range.upperBound
        claims = Claims(packet)
    }

    /// Most boxes of the movie's top level; phones write 3 to 6.
    private static let boxesMax = 256
}
