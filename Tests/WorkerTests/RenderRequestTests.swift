import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

/// The requests to render children, as they are coded.
@Suite("Requests to a render child") struct RenderRequestTests {
    /// The digests of the required fields (``required(_:)``) by the version that has them. A version that has been committed keeps its digest.
    private static let fieldsOfVersions = [
        3: "b2bffd49190693a9f6ad450b97de0234ed6e5f69ef7ddc5983ec2ca7e6e18f73"
    ]

    private static let edit =
        #"{"filters":[{"name":"CISepiaTone"}],"output":{"format":"jpeg","quality":0.9}}"#
    private static let digest = "sha256:" + String(repeating: "0", count: 64)

    /// What benchmarks send, with other edits, files and limits.
    private static func example() throws -> RenderRequest {
        RenderRequest(
            .render(PhotoRequest(recipe: try Recipe(json: edit), limits: RenderLimits())),
            files: [.source(name: "photo.jpg"), .output, .spool], number: 1)
    }

    /// Requests that have, together, each field that a request can have.
    private static func all() throws -> [RenderRequest] {
        let size = PixelSize(width: 400, height: 300)
        let length = Mark.Length(millionths: 30_000_000)
        let text = Mark.Text("a", fonts: [digest], size: length, maxWidth: length)
        let mark = Mark(.text(text), isInPixels: true)
        let coverage = TextCoverage(box: size, left: 0, top: 0, size: size, planes: 1)
        let recipe = try Recipe(json: edit)
        let output = PhotoRequest.Output(
            longestSide: 100, format: recipe.output, rendition: Rendition(marks: [mark]),
            name: "small", texts: [PlacedText(coverage, offset: 0)], segment: 0)
        var photo = PhotoRequest(
            recipe: recipe, limits: RenderLimits(), pictures: [digest: size], outputs: [output],
            memoryMax: 1 << 30, threads: 1, contentIdentifier: "a")
        photo.readsTexts = true
        let sheet = ContactSheetRequest(
            cells: [.init(source: 0, recipe: recipe, label: "a")], across: 1, cellSide: 64)
        let works: [RenderRequest.Work] = [
            .inspect(photo), .render(photo), .contactSheet(sheet), .confinement,
            .tryFormat(.jpeg, .eight), .libraries,
            .text(TextRequest(mark, text, text: "a", in: size)),
        ]
        let files: [RenderFiles.Role] = [
            .source(name: "a"), .resource(digest: digest), .coverage, .segment, .output, .spool,
        ]
        return works.map { RenderRequest($0, files: files, number: 1) }
    }

    @Test func `the coded example that benchmarks send is what Swift encodes`() throws {
        let file = Repository.root.appending(path: "ops/bench/render_request.json")
        let coded = try LineFormat.encode(Self.example())
        let kept = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? NSDictionary
        let wanted = try JSONSerialization.jsonObject(with: coded) as? NSDictionary
        let text = String(decoding: coded, as: UTF8.self)
        #expect(kept == wanted, "\(file.path) must have these fields and values: \(text)")
    }

    @Test func `a new required field raises the number of the protocol`() throws {
        let fields = try Set(Self.all().flatMap(Self.required)).sorted().joined(separator: "\n")
        let digest = SHA256.hash(data: Array(fields.utf8)).hex
        #expect(
            Self.fieldsOfVersions[RenderRequest.version] == digest,
            """
            Requests of version \(RenderRequest.version) have other required fields than before. Raise \
            RenderRequest.version, and write the new number here with \(digest). The fields: \(fields)
            """)
    }

    /// Returns the paths of the fields without which a request is not decoded; an index of an array is `*`.
    private static func required(_ request: RenderRequest) throws -> [String] {
        let whole = try JSONSerialization.jsonObject(with: LineFormat.encode(request))
        return try paths(whole).filter { path in
            let rest = try JSONSerialization.data(
                withJSONObject: removing(path[...], from: whole), options: .fragmentsAllowed)
            do {
                _ = try LineFormat.decode(RenderRequest.self, from: rest)
                return false
            } catch {
                return true
            }
        }.map { path in
            path.map { Int($0) == nil ? $0 : "*" }.joined(separator: ".")
        }
    }

    /// Returns the paths of all members of objects.
    private static func paths(_ value: Any, below path: [String] = []) -> [[String]] {
        if let object = value as? [String: Any] {
            return object.flatMap { name, member in
                [path + [name]] + paths(member, below: path + [name])
            }
        }
        guard let array = value as? [Any] else { return [] }
        return array.enumerated().flatMap { paths($1, below: path + [String($0)]) }
    }

    private static func removing(_ path: ArraySlice<String>, from value: Any) throws -> Any {
        let name = try #require(path.first)
        if var object = value as? [String: Any] {
            let member = try #require(object[name])
            object[name] =
                path.count == 1 ? nil : try removing(path.dropFirst(), from: member)
            return object
        }
        var array = try #require(value as? [Any])
        let index = try #require(Int(name))
        array[index] = try removing(path.dropFirst(), from: array[index])
        return array
    }
}
