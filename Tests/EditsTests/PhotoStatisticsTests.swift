import Edits
import Testing

@Suite("Photo statistics") struct PhotoStatisticsTests {
    /// A grey pixel of each code.
    private let ramp = PhotoStatistics(
        codes: (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] })

    @Test func `half of a ramp is darker than the middle`() {
        #expect(abs(ramp.luma(below: 0.5) - 0.5) < 0.01)
        #expect(ramp.luma(below: 0) == 0 && ramp.luma(below: 1) == 1)
    }

    @Test func `the share from a luma on counts the rest of the ramp`() {
        #expect(abs(ramp.share(from: 0.75) - 0.25) < 0.01)
        #expect(ramp.share(from: 0) == 1 && ramp.share(from: 1) == 1 / 256)
    }

    @Test func `grey has no saturation and a primary has all`() {
        #expect(ramp.meanSaturation == 0)
        #expect(PhotoStatistics(codes: [255, 0, 0]).meanSaturation == 1)
        #expect(PhotoStatistics(codes: [255, 0, 0, 9, 9, 9]).meanSaturation == 0.5)
    }

    @Test func `green weighs most and blue least`() {
        let lumas = [[0, 255, 0], [255, 0, 0], [0, 0, 255]].map {
            PhotoStatistics(codes: $0.map(UInt8.init)).luma(below: 0.5)
        }
        #expect(lumas == lumas.sorted(by: >) && Set(lumas).count == 3)
    }
}
