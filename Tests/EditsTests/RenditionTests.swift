import Edits
import Testing

@Suite("Renditions of an edit") struct RenditionTests {
    @Test(arguments: [
        (#"{"bitDepth": 16}"#, "bitDepth is 16", "jpeg"),
        (#"{"format": "avif", "bitDepth": 16}"#, "bitDepth is 16", "8 or 10 or 12"),
        (#"{"format": "png", "bitDepth": 10}"#, "bitDepth is 10", "8 or 16"),
        (#"{"format": "webp", "chroma": "4:4:4"}"#, "chroma is 4:4:4", "4:2:0"),
        (#"{"chroma": "4:2:2"}"#, "chroma is 4:2:2", "4:4:4 or 4:2:0"),
        (#"{"format": "tiff", "progressive": true}"#, "progressive is true", "jpeg and png"),
        (#"{"compression": "small"}"#, "compression is small", "only png and tiff"),
        (#"{"format": "png", "compression": "none"}"#, "compression is none", "fast or small"),
        (
            #"{"maxBytes": 9000, "quality": 0.5, "minQuality": 0.6}"#, "minQuality is 0.6",
            "quality, 0.5"
        ),
    ])
    func `are refused when the edit is read if their format has no such setting`(
        rendition: String, field: String, expected: String
    ) {
        expect(.invalidValue, naming: "edit.renditions.web." + field, expected) {
            try Edit(json: #"{"filters": [], "renditions": {"web": \#(rendition)}}"#)
        }
    }

    @Test func `have each setting that their format has`() throws {
        for format in Recipe.Format.photos {
            for depth in format.bitDepths {
                for chroma in format.chromas {
                    let text =
                        #"{"format": "\#(format.rawValue)", "bitDepth": \#(depth.rawValue), "chroma": "\#(chroma.rawValue)"}"#
                    let edit = try Edit(
                        json: #"{"filters": [], "renditions": {"web": \#(text)}}"#)
                    #expect(edit.renditions.byName["web"]?.output.bitDepth == depth)
                }
            }
        }
    }
}
