import Edits
import ServiceTesting
import Foundation
import MinilabTesting
import NIOHTTP1
import Testing

@testable import BlobStore

@Suite("Sources of credentials", .timeLimit(.minutes(10))) struct CredentialSourceTests {
    private let runtime = TestRuntime().values
    private static let json = """
        {"Code": "Success", "AccessKeyId": "AK", "SecretAccessKey": "hidden", "Token": "T",
         "Expiration": "2024-01-02T09:04:05Z"}
        """
    private static let end = BlobTime(seconds: TestRuntime.time.seconds + 6 * 3_600)

    private static func file(_ folder: TemporaryFolder, _ text: String) throws -> String {
        let path = folder.file("file")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    private func error(_ source: some CredentialSource) async -> BlobError? {
        let error = await failure { () throws(BlobError) in try await source.fetch() }
        #expect(error?.code == .noCredentials)
        #expect(error?.message.contains("hidden") == false)
        return error
    }

    @Test func `the environment has both keys or neither`() async throws {
        let whole = [
            "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T",
        ]
        let keys = try await EnvironmentCredentials(whole).fetch()
        #expect(keys == Credentials(accessKey: "A", secretKey: "S", sessionToken: "T"))
        #expect(try await EnvironmentCredentials(["AWS_ACCESS_KEY_ID": ""]).fetch() == nil)
        let half = await error(EnvironmentCredentials(["AWS_SECRET_ACCESS_KEY": "hidden"]))
        #expect(half?.message.contains("AWS_ACCESS_KEY_ID is not") == true)
    }

    @Test func `the shared file has a section for each profile`() async throws {
        let folder = try TemporaryFolder()
        let path = try Self.file(
            folder,
            """
            # a comment
            [default]
            aws_access_key_id = D
            aws_secret_access_key = DS
            [ other ]
            AWS_ACCESS_KEY_ID=O
              aws_secret_access_key = a=b=
            aws_session_token=T
            [broken]
            role_arn = arn:aws:iam::1:role/x
            """)
        let environment = ["AWS_SHARED_CREDENTIALS_FILE": path]
        let first = try await SharedFileCredentials(environment).fetch()
        #expect(first == Credentials(accessKey: "D", secretKey: "DS"))
        let other = try await SharedFileCredentials(environment, profile: "other").fetch()
        #expect(other == Credentials(accessKey: "O", secretKey: "a=b=", sessionToken: "T"))
        let named = environment.merging(["AWS_PROFILE": "other"]) { $1 }
        #expect(try await SharedFileCredentials(named).fetch() == other)
        let missing = await error(SharedFileCredentials(environment, profile: "none"))
        #expect(missing?.message.contains("The profile none is not in \(path)") == true)
        let broken = await error(SharedFileCredentials(environment, profile: "broken"))
        #expect(broken?.message.contains("not supported") == true)
    }

    @Test func `no file is no error unless a profile was named`() async throws {
        let folder = try TemporaryFolder()
        let environment = ["HOME": folder.path]
        #expect(try await SharedFileCredentials(environment).fetch() == nil)
        #expect(try await SharedFileCredentials([:]).fetch() == nil)
        _ = await error(SharedFileCredentials(environment, profile: "other"))
    }

    @Test func `a web identity's token is exchanged for keys`() async throws {
        let folder = try TemporaryFolder()
        let file = try Self.file(folder, "ey.J+\n")
        let stub = try await StubServer.start { _ in
            .reply(
                200, [],
                """
                <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AK</AccessKeyId>
                <SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>
                <Expiration>2024-01-02T09:04:05Z</Expiration></Credentials>
                </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>
                """)
        }
        let environment = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": file, "AWS_ROLE_ARN": "arn:aws:iam::1:role/x",
            "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:\(stub.port)",
        ]
        let keys = try await WebIdentityCredentials(environment, runtime).fetch()
        #expect(
            keys
                == Credentials(
                    accessKey: "AK", secretKey: "S", sessionToken: "T", expires: Self.end))
        let request = try #require(stub.requests.first)
        #expect(request.method == "POST")
        #expect(
            request.text
                == "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1"
                + "%3Arole%2Fx&RoleSessionName=minilab&WebIdentityToken=ey.J%2B")
    }

    @Test func `a token that is refused is reported with the role`() async throws {
        let folder = try TemporaryFolder()
        let file = try Self.file(folder, "hidden")
        let stub = try await StubServer.start { _ in
            .reply(
                403, [],
                "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>")
        }
        var environment = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": file, "AWS_ROLE_ARN": "arn:role",
            "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:\(stub.port)",
        ]
        let refused = await error(WebIdentityCredentials(environment, runtime))
        #expect(refused?.message.contains("arn:role it answered 403 AccessDenied") == true)
        environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = folder.file("none")
        let missing = await error(WebIdentityCredentials(environment, runtime))
        #expect(missing?.message.contains(folder.file("none")) == true)
        environment["AWS_ROLE_ARN"] = nil
        _ = await error(WebIdentityCredentials(environment, runtime))
        #expect(try await WebIdentityCredentials([:], runtime).fetch() == nil)
        #expect(stub.requests.count == 1)
    }

    @Test func `a container's service is asked with its token`() async throws {
        let folder = try TemporaryFolder()
        let file = try Self.file(folder, "Bearer hidden\n")
        let stub = try await StubServer.start { request in
            request.number == 1 ? .reply(500) : .reply(200, [], Self.json)
        }
        let keys = try await ContainerCredentials(
            [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://localhost:\(stub.port)/v1?a=b",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file,
            ], runtime
        ).fetch()
        #expect(keys?.accessKey == "AK")
        #expect(keys?.expires == Self.end)
        #expect(stub.requests.map(\.uri) == ["/v1?a=b", "/v1?a=b"])
        #expect(stub.requests.last?.headers["authorization"] == ["Bearer hidden"])
    }

    @Test(arguments: [
        "http://evil.example/x", "http://169.254.169.254/x", "http://127.0.0.1.evil.example/",
        "ftp://localhost/", "http://localhost@evil.example/", "",
    ]) func `a container's token goes to no other host`(url: String) async throws {
        let source = ContainerCredentials(
            [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": url,
                "AWS_CONTAINER_AUTHORIZATION_TOKEN": "hidden",
            ], runtime)
        if url.isEmpty {
            #expect(try await source.fetch() == nil)
        } else {
            _ = await error(source)
        }
    }

    @Test func `what is not keys is not shown`() async throws {
        for body in [
            "hidden", "{}",
            "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"hidden\",\"Expiration\":\"soon\"}",
        ] {
            let stub = try await StubServer.start { _ in .reply(200, [], body) }
            let source = ContainerCredentials(
                ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(stub.port)/"],
                runtime)
            #expect(await error(source)?.message.contains("without keys") == true)
        }
        let line = ContainerCredentials(
            [
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN": "hidden\r\nHost: x",
            ], runtime)
        #expect(await error(line)?.message.contains("one line") == true)
    }

    @Test func `a machine's service wants a session first`() async throws {
        let stub = try await StubServer.start { request in
            let session = request.headers["x-aws-ec2-metadata-token"] == ["session"]
            return switch (request.method, request.uri, session) {
            case ("PUT", "/latest/api/token", _): .reply(200, [], "session")
            case ("GET", "/latest/meta-data/iam/security-credentials/", true):
                .reply(200, [], "my-role\n")
            case ("GET", "/latest/meta-data/iam/security-credentials/my-role", true):
                .reply(200, [], Self.json)
            default: .reply(401)
            }
        }
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(stub.port)/"]
        let keys = try await InstanceCredentials(environment, runtime).fetch()
        #expect(keys?.secretKey == "hidden")
        #expect(keys?.expires == Self.end)
        #expect(
            stub.requests.first?.headers["x-aws-ec2-metadata-token-ttl-seconds"] == ["60"])
    }

    @Test func `no machine's service, or no role of it, is no error`() async throws {
        // Port 1 belongs to tcpmux, which nobody runs.
        let nobody = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"]
        #expect(try await InstanceCredentials(nobody, runtime).fetch() == nil)
        let disabled = ["AWS_EC2_METADATA_DISABLED": "True"]
        #expect(try await InstanceCredentials(disabled, runtime).fetch() == nil)
        let stub = try await StubServer.start { request in
            request.method == "PUT" ? .reply(200, [], "session") : .reply(404)
        }
        let roleless = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(stub.port)"]
        #expect(try await InstanceCredentials(roleless, runtime).fetch() == nil)
    }

    @Test func `a machine's service that refuses is reported`() async throws {
        let stub = try await StubServer.start { _ in .reply(403) }
        let source = InstanceCredentials(
            ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(stub.port)"], runtime)
        #expect(await error(source)?.message.contains("gave no session (403)") == true)
    }

    @Test func `the first source that is set up decides`() async throws {
        let environment = [
            "AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "S",
            "AWS_EC2_METADATA_DISABLED": "true",
        ]
        let settings = Credentials(accessKey: "OURS", secretKey: "S")
        let ours = CredentialChain.standard(settings: settings, environment: environment)
        #expect(try await ours.fetch() == settings)
        let theirs = CredentialChain.standard(environment: environment)
        #expect(try await theirs.fetch()?.accessKey == "E")
        let nobody = CredentialChain.standard(environment: ["AWS_EC2_METADATA_DISABLED": "true"])
        #expect(try await nobody.fetch() == nil)
        #expect(nobody.name.contains("the environment, the web identity, the shared"))
    }
}
