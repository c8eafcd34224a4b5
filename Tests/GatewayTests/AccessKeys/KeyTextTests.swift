import Edits
import MinilabTesting
import Testing

@testable import AccessKeys

@Suite("The text of a key") struct KeyTextTests {
    @Test func `a key reads back as what it was made`() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let made = KeyText(using: &generator)
            let read = try KeyText(made.revealed)
            #expect(made.revealed.utf8.count == KeyText.length)
            #expect(read.id == made.id && read.revealed == made.revealed)
            #expect(KeyText.isID(made.id))
        }
        #expect(KeyText().revealed != KeyText().revealed)
    }

    @Test func `every single wrong character and every swap of neighbours is noticed`() throws {
        var generator = SeededGenerator(seed: 2)
        let key = Array(KeyText(using: &generator).revealed.utf8)
        for place in key.indices {
            for other in "0aZ_~é".utf8 where other != key[place] {
                var wrong = key
                wrong[place] = other
                expectMalformed(String(decoding: wrong, as: UTF8.self))
            }
            if place > 0, key[place] != key[place - 1] {
                var wrong = key
                wrong.swapAt(place, place - 1)
                expectMalformed(String(decoding: wrong, as: UTF8.self))
            }
        }
        expectMalformed("")
        expectMalformed(String(decoding: key.dropLast(), as: UTF8.self))
        expectMalformed(String(repeating: "_", count: KeyText.length))
        expectMalformed(String(decoding: key, as: UTF8.self) + " ")
    }

    private func expectMalformed(_ text: String) {
        do {
            _ = try KeyText(text)
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.code == .malformedKey)
            #expect(text.isEmpty || !error.message.contains(text), "\(error)")
        }
    }

    @Test func `no description shows the secret`() {
        let key = KeyText()
        let secret = key.revealed.split(separator: "_")[2]
        var dumped = ""
        dump(key, to: &dumped)
        for shown in ["\(key)", String(reflecting: key), dumped, "\([key])"] {
            #expect(!shown.contains(secret) && shown.contains(key.id), "\(shown)")
        }
    }

    @Test func `the checksum is CRC-32`() {
        // The check value of the CRC catalogue.
        #expect(crc32("123456789".utf8) == 0xCBF4_3926)
    }
}
