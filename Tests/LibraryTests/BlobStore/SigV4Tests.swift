import Testing

@testable import BlobStore

/// AWS' own examples, as values.
///
/// Sources: aws-sig-v4-test-suite; Amazon S3 API reference, "Signature Calculations for the
/// Authorization Header" and "Authenticating Requests: Using Query Parameters".
@Suite("SigV4") struct SigV4Tests {
    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        var method = "GET"
        var path = "/"
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body = ""
        let signature: String
        var testDescription: String { name }
    }

    static let suite = [
        Example(
            name: "get-vanilla",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Example(
            name: "get-vanilla-query-order-key-case",
            query: [("Param2", "value2"), ("Param1", "value1")],
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Example(
            name: "get-utf8", path: "/%E1%88%B4",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        Example(
            name: "get-unreserved",
            path: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        Example(
            name: "get-vanilla-utf8-query", query: [("ሴ", "bar")],
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Example(
            name: "get-header-value-trim",
            headers: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        Example(
            name: "get-header-key-duplicate",
            headers: [
                ("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1"),
            ],
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
        Example(
            name: "post-vanilla", method: "POST",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        Example(
            name: "post-x-www-form-urlencoded", method: "POST",
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: "Param1=value1",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
    ]

    @Test(arguments: suite)
    func `the test suite's requests get the suite's signatures`(_ example: Example) throws {
        let signer = SigV4(
            credentials: Credentials(
                accessKey: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1", service: "service")
        let request = SignableRequest(
            method: example.method, path: example.path, query: example.query,
            headers: [("Host", "example.amazonaws.com")] + example.headers,
            payload: BlobDigest(of: example.body.utf8).hex)
        let time = try #require(BlobTime(iso: "2015-08-30T12:36:00Z"))
        let authorization = signer.headers(signing: request, at: time).last?.value ?? ""
        #expect(authorization.hasSuffix("Signature=" + example.signature), "\(authorization)")
        let cached = signer.headers(
            signing: request, at: time, key: signer.signingKey(day: "20150830"))
        #expect(cached.last?.value == authorization)
    }

    /// The S3 guide's bucket, its keys and its moment.
    private static let s3 = SigV4(
        credentials: Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE",
            secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), region: "us-east-1")
    private static let host = (name: "host", value: "examplebucket.s3.amazonaws.com")
    private static let moment = BlobTime(seconds: 1_369_353_600)

    static let s3Examples = [
        Example(
            name: "GET object", path: "/test.txt", headers: [("range", "bytes=0-9")],
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            name: "PUT object", method: "PUT", path: "/test%24file.text",
            headers: [
                ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ], body: "Welcome to Amazon S3.",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            name: "GET lifecycle", query: [("lifecycle", "")],
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            name: "list objects", query: [("max-keys", "2"), ("prefix", "J")],
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    @Test(arguments: s3Examples)
    func `the S3 guide's requests get the guide's signatures`(_ example: Example) {
        let payload = BlobDigest(of: example.body.utf8).hex
        let request = SignableRequest(
            method: example.method, path: example.path, query: example.query,
            headers: [Self.host, ("x-amz-content-sha256", payload)] + example.headers,
            payload: payload)
        let headers = Self.s3.headers(signing: request, at: Self.moment)
        #expect(headers.last?.value.hasSuffix(example.signature) == true, "\(headers)")
    }

    @Test func `the S3 guide's presigned URL gets the guide's signature`() {
        let request = SignableRequest(
            method: "GET", path: "/test.txt", headers: [Self.host],
            payload: SignableRequest.unsignedPayload)
        let query = Self.s3.presignedQuery(for: request, at: Self.moment, seconds: 86_400)
        #expect(
            query
                == "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524"
                + "%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400"
                + "&X-Amz-SignedHeaders=host&X-Amz-Signature="
                + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    }

    @Test func `a session token is signed, in the header and in the URL`() {
        let signer = SigV4(
            credentials: Credentials(accessKey: "A", secretKey: "S", sessionToken: "T/+"),
            region: "r")
        let request = SignableRequest(
            method: "GET", path: "/", headers: [Self.host], payload: "UNSIGNED-PAYLOAD")
        let headers = signer.headers(signing: request, at: Self.moment)
        #expect(headers.contains { $0 == ("x-amz-security-token", "T/+") })
        #expect(headers.last?.value.contains(";x-amz-security-token,") == true)
        let query = signer.presignedQuery(for: request, at: Self.moment, seconds: 1)
        #expect(query.contains("&X-Amz-Security-Token=T%2F%2B&"))
    }

    @Test func `no description shows a secret`() {
        let credentials = Credentials(
            accessKey: "A", secretKey: "hidden", sessionToken: "veiled")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains("hidden") && !text.contains("veiled"), "\(text)")
        }
    }
}
