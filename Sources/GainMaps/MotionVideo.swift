import Boxes
import Metadata

/// The video of a motion photo, and what the photo's XMP says of it beside its length.
///
/// Sources: Google, "Motion Photo format 1.0", and its forerunner of `MicroVideo`.
public struct MotionVideo: Sendable, Equatable {
    /// The movie's boxes in the file. What lies behind them, of which some phones write a little, is no part of it.
    public let place: Range<Int>
    /// Claims that stay true whatever becomes of the frames.
    public let claims: Claims

    /// Claims of a photo's XMP.
    public struct Claims: Sendable, Equatable {
        /// When the still was taken, in microseconds from the video's beginning; -1: nobody says.
        public let stillMicroseconds: Int
        /// Whether the photo is marked in the way of version 1.0, and in that of before.
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

        /// The same of a video that lasts so long: a still after its end was taken nobody knows when.
        public func within(seconds: Double) -> Claims {
            Double(stillMicroseconds) / 1e6 <= seconds
                ? self : Claims(self, stillMicroseconds: -1)
        }
    }

    /// Takes the boxes of a movie that begin at a place.
    ///
    /// - Parameter end: where the part of the file ends that the video is said to have.
    /// - Returns: nil when no movie begins there.
    init?(at start: Int, before end: Int, _ packet: [UInt8], _ file: inout FileWindow) {
        guard start > 0, start < end, file.has("ftyp", at: start + 4) else { return nil }
        let boxes = file.boxes(in: start..<min(end, file.length), atMost: Self.boxesMax)
            .prefix { !$0.isCutOff && $0.type.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
        guard let last = boxes.last else { return nil }
        place = start..<last.range.upperBound
        claims = Claims(packet)
    }

    /// Most boxes of the movie's first level; phones write 3 to 6.
    private static let boxesMax = 256
}
