import Edits
import Library
import Testing

@Suite("Names by the rules of cameras") struct DCFNameTests {
    @Test func `three letters, a line and four digits are one, in any case`() throws {
        let name = try #require(DCFName(original: "img_0042"))
        #expect(name.original == "IMG_0042")
        #expect(name.render == "IMG_E0042")
        #expect(name.sidecar == "IMG_0042.AAE")
        #expect(DCFName(original: "DSC_9999")?.number == 9999)
    }

    @Test(arguments: [
        "", "IMG", "IMG_", "IMG_123", "IMG_12345", "IMG_0000", "IMG1234", "IM_1234", "IMGS_1234",
        "IM1_1234", "IMG_E1234", "IMG_12E4", "IMG_1234_", "IMG-1234", "IMG_１２３４", "ÄMG_1234",
        "IMG_+123",
    ])
    func `everything else is none`(stem: String) {
        #expect(DCFName(original: stem) == nil)
    }

    @Test func `photos keep their own names, and others get the lowest free ones`() throws {
        let names = try DCFName.choose(
            for: ["beach", "IMG_0001", "DSC_0007", "cat.old"], besides: [])
        #expect(names.map(\.original) == ["IMG_0002", "IMG_0001", "DSC_0007", "IMG_0003"])
    }

    @Test func `of two photos of one name the first keeps it`() throws {
        let names = try DCFName.choose(for: ["IMG_0005", "IMG_0005"], besides: [])
        #expect(names.map(\.original) == ["IMG_0005", "IMG_0001"])
    }

    @Test(arguments: [
        "IMG_0005.JPG", "img_0005.heic", "IMG_E0005.JPG", "IMG_0005.AAE", "IMG_O0005.AAE",
    ])
    func `a file of any role takes the name`(file: String) throws {
        #expect(try DCFName.choose(for: ["IMG_0005"], besides: [file]).map(\.number) == [1])
    }

    @Test func `the last number is given and then there is an error that says what to do`() throws {
        let existing = (1...9998).map { DCFName(number: $0).original + ".JPG" }
        #expect(try DCFName.choose(for: ["a"], besides: existing).map(\.original) == ["IMG_9999"])
        let failure = #expect(throws: Failure.self) {
            try DCFName.choose(for: ["a", "b"], besides: existing)
        }
        #expect(failure?.code == .invalidValue)
        #expect(failure?.message.contains("another folder") == true)
    }
}

extension DCFName {
    fileprivate init(number: Int) {
        let digits = String(String(10_000 + number).dropFirst())
        guard let name = DCFName(original: "IMG_" + digits) else { preconditionFailure(digits) }
        self = name
    }
}
