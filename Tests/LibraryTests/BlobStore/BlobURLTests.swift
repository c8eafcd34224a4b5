import BlobStore
import Edits
import Testing

@Suite("BlobURL") struct BlobURLTests {
    @Test func `a bucket alone is Amazon's`() throws {
        let url = try BlobURL("s3://photos")
        #expect(url.bucket == "photos")
        #expect(url.prefix == "")
        #expect(url.endpoint == nil && url.region == nil && url.style == nil)
        #expect(!url.sendsInClear)
        #expect(url.description == "s3://photos")
    }

    @Test func `every part is read and written again`() throws {
        let text =
            "s3://my.photos-1/lib/20%25%20off?endpoint=https://s3.example:9000&region=eu-central-1"
            + "&style=virtual"
        let url = try BlobURL(text)
        #expect(url.bucket == "my.photos-1")
        #expect(url.prefix == "lib/20% off")
        #expect(url.endpoint?.host == "s3.example")
        #expect(url.endpoint?.port == 9_000)
        #expect(url.endpoint?.usesTLS == true)
        #expect(url.region == "eu-central-1")
        #expect(url.style == .virtual)
        #expect(url.description == text)
        #expect(try BlobURL(url.description) == url)
    }

    @Test func `an endpoint may be an IPv6 address, encoded, and end with a slash`() throws {
        let url = try BlobURL("s3://abc/p/?endpoint=http%3A%2F%2F[::1]:8333/")
        #expect(url.prefix == "p")
        #expect(url.endpoint?.host == "::1")
        #expect(url.endpoint?.description == "http://[::1]:8333")
    }

    @Test(arguments: [
        ("http://127.0.0.1:1", false), ("http://localhost", false), ("http://[::1]", false),
        ("http://10.0.0.1", true), ("http://127.evil.example", true), ("https://10.0.0.1", false),
    ]) func `only HTTP to other machines is in clear`(endpoint: String, inClear: Bool) throws {
        #expect(try BlobURL("s3://abc?endpoint=\(endpoint)").sendsInClear == inClear)
    }

    /// Wrong forms with what their messages name: the value and what is allowed.
    @Test(arguments: [
        ("", "the scheme"),
        ("/var/library", "s3://bucket/prefix"),
        ("https://bucket", "\"https\""),
        ("s3://", "the bucket is \"\""),
        ("s3://ab", "3 to 63"),
        ("s3://Photos", "\"Photos\""),
        ("s3://-photos", "at both ends"),
        ("s3://a..b", "\"a..b\""),
        ("s3://photos//x", "the component \"\""),
        ("s3://photos/a/../b", "the component \"..\""),
        ("s3://photos/%zz", "\"%zz\""),
        ("s3://photos/a#b", "%23"),
        ("s3://photos?endpoint=s3.example", "endpoint=https://host:port"),
        ("s3://photos?endpoint=https://", "the endpoint's host is \"\""),
        ("s3://photos?endpoint=https://h:0", "from 1 to 65535"),
        ("s3://photos?endpoint=https://h/path", "\"h/path\""),
        ("s3://photos?endpoint=https://::1", "[IPv6 address]:port"),
        ("s3://photos?region=EU West", "\"EU West\""),
        ("s3://photos?region=", "region has no value"),
        ("s3://photos?style=host", "path or virtual"),
        ("s3://photos?region=a&region=b", "each of them once"),
        ("s3://photos?acl=public", "\"acl\""),
    ]) func `a wrong part is named with what is allowed`(text: String, part: String) {
        let error = #expect(throws: BlobError.self) { try BlobURL(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "accepted")")
    }

    @Test(arguments: [
        "s3://key:secret@photos/p", "s3://photos?endpoint=https://key:secret@host",
    ]) func `a login is refused and not shown`(text: String) {
        let error = #expect(throws: BlobError.self) { try BlobURL(text) }
        #expect(error?.message.contains("secret") == false)
        #expect(error?.message.contains("login") == true)
    }
}
