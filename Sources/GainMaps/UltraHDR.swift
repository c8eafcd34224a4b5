import Metadata

/// What a JPEG says of the gain map behind it.
///
/// Both ways at once, so that every reader finds one: XMP with a container directory (Ultra HDR 1.1 §"XMP"), and the segment of
/// ISO 21496-1; the index `MPF` (``MultiPicture``) says where the map begins.
public enum UltraHDR {
    /// The `rdf:Description` of the photo's XMP.
    ///
    /// - Parameter mapBytes: bytes of the map's JPEG.
    public static func description(mapBytes: Int) -> String {
        """
        <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" \
        xmlns:Container="http://ns.google.com/photos/1.0/container/" \
        xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0">\
        <Container:Directory><rdf:Seq>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" \
        Item:Length="\(mapBytes)"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>
        """
    }

    /// The photo's packet with these claims.
    public static func packet(_ packet: [UInt8]?, mapBytes: Int) -> [UInt8] {
        XMP.adding(description(mapBytes: mapBytes), to: packet)
    }

    /// The content of the photo's segment of ISO 21496-1: the versions alone say that a map is in the file.
    public static let photoSegment = GainMapMetadata.signature + GainMapMetadata.isoVersion

    /// The segments of the map's JPEG: APP1 with its XMP, APP2 with its metadata.
    public static func mapSegments(_ metadata: GainMapMetadata) -> [(code: UInt8, bytes: [UInt8])] {
        [
            (0xE1, JPEGSegments.xmpSignature + metadata.hdrgm),
            (0xE2, GainMapMetadata.signature + metadata.iso),
        ]
    }
}
