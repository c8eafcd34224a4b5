import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import RenderPool

@Suite("The beginning of a photo that is not here whole") struct BeginningTests {
    @Test
    func `tells of too many pixels and too long a side, and of nothing that may be further on`()
        async throws
    {
        let bench = try Workbench(inMemory: true)
        let editor = AssetEditor(
            library: bench.library, pool: bench.pool, editors: bench.editors,
            limits: RenderLimits(), resources: nil)
        let asset = try AssetPath("a.png")
        let whole = SyntheticPhoto.png(width: 300, height: 200)
        let cases: [(Data, FailureCode?)] = [
            (SyntheticPhoto.pngBomb(width: 50_000, height: 50_000), .tooManyPixels),
            (SyntheticPhoto.pngBomb(width: 150_000, height: 300), .exceedsLimit),
            // Of the whole file's density a beginning says nothing.
            (SyntheticPhoto.pngBomb(width: 10_000, height: 7_000), nil),
            (whole.prefix(whole.count / 2), nil), (Data("GIF?".utf8), nil),
        ]
        for (bytes, code) in cases {
            let path = FilePath(bench.folder.path).appending("beginning")
            try bytes.write(to: URL(filePath: path.string))
            let refusal = await editor.refusal(
                of: asset, try OpenFile(reading: path.string), 1 << 30, Borrower(.operator))
            #expect(refusal?.code == code)
        }
        let beginning = try OpenFile(
            reading: FilePath(bench.folder.path).appending("beginning").string)
        let length = RenderLimits().bytesMax + 1
        let refusal = await editor.refusal(of: asset, beginning, length, Borrower(.operator))
        #expect(refusal?.code == .exceedsLimit)
        await bench.pool.close()
    }
}
