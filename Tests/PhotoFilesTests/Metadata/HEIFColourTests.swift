import PhotoFiles
import MinilabTesting
import Testing

@Suite("The colours of a HEIF without a profile") struct HEIFColourTests {
    private func nclx(_ primaries: Int, _ transfer: Int) -> [UInt8] {
        Bytes.box(
            "colr",
            Bytes.text("nclx") + Bytes.big(primaries, 2) + Bytes.big(transfer, 2)
                + Bytes.big(9, 2) + [0x80])
    }

    /// A file whose photo is item 1, a grid of item 2; item 3 is a gain map.
    private func meta(_ colours: [UInt8], _ associations: [UInt8]) -> HEIFMeta {
        let references = Bytes.big(0) + Bytes.box("dimg", [0, 1, 0, 1, 0, 2])
        return HEIFMeta(
            Bytes.big(0) + Bytes.box("pitm", Bytes.big(0) + [0, 1]) + Bytes.box("iref", references)
                + Bytes.box(
                    "iprp",
                    Bytes.box("ipco", colours)
                        + Bytes.box("ipma", Bytes.big(0) + Bytes.big(2) + associations)))
    }

    @Test func `are the photo's, whatever its gain map's are`() {
        let meta = meta(nclx(1, 13) + nclx(9, 16), [0, 1, 1, 2, 0, 3, 1, 1])
        #expect(HEIFColour(meta) == HEIFColour(primaries: 9, transfer: 16))
    }

    @Test func `are its first tile's where a grid says nothing`() {
        let meta = meta(nclx(1, 13) + nclx(12, 13), [0, 2, 1, 2, 0, 3, 1, 1])
        #expect(HEIFColour(meta) == HEIFColour(primaries: 12, transfer: 13))
    }

    @Test func `are told by a profile, if the photo has one`() {
        let profile = Bytes.box("colr", Bytes.text("prof") + [1, 2, 3])
        #expect(HEIFColour(meta(profile + nclx(12, 13), [0, 1, 2, 1, 2, 0, 3, 1, 2])) == nil)
        #expect(HEIFColour(meta(profile, [0, 3, 1, 1, 0, 4, 0])) == nil)
    }

    @Test(arguments: [[1, 2], [2, 1]] as [[UInt8]])
    func `of HDR count before a profile, whichever stands first`(order: [UInt8]) {
        let profile = Bytes.box("colr", Bytes.text("prof") + [1, 2, 3])
        for transfer in [16, 18] {
            let meta = meta(profile + nclx(9, transfer), [0, 1, 2] + order + [0, 3, 1, 2])
            #expect(HEIFColour(meta) == HEIFColour(primaries: 9, transfer: transfer))
        }
    }
}
