import Edits
import ServiceTesting
import MinilabTesting
import Testing

@testable import BlobStore

@Suite("Rules of a bucket", .timeLimit(.minutes(10))) struct LifecycleTests {
    private func lifecycle(
        _ status: Int, _ body: String
    ) async throws -> (rules: [BucketLifecycle.Rule]?, error: BlobError?) {
        let stub = try await StubServer.start { request in
            request.uri == "/photos?lifecycle=" ? .reply(status, [], body) : .reply(400)
        }
        return try await withClient(of: stub) { client async throws in
            var rules: [BucketLifecycle.Rule]?
            let error = await failure { () throws(BlobError) in
                rules = try await client.lifecycle().rules
            }
            return (rules, error)
        }
    }

    @Test func `those that are on are read, in the old form and the new one`() async throws {
        let rules = try await lifecycle(
            200,
            """
            <LifecycleConfiguration>
            <Rule><ID>a</ID><Prefix>lab/</Prefix><Status>Enabled</Status>
            <Expiration><Days>3</Days></Expiration></Rule>
            <Rule><ID>b</ID><Filter><And><Prefix>x/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter>
            <Status>Enabled</Status><Expiration><Date>2027-01-01T00:00:00Z</Date></Expiration></Rule>
            <Rule><ID>off</ID><Filter/><Status>Disabled</Status><Expiration><Days>1</Days></Expiration></Rule>
            <Rule><Filter><Prefix/></Filter><Status>Enabled</Status>
            <Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>
            <NoncurrentVersionExpiration><NoncurrentDays>7</NoncurrentDays></NoncurrentVersionExpiration>
            <AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>
            </AbortIncompleteMultipartUpload></Rule>
            </LifecycleConfiguration>
            """
        ).rules
        #expect(rules?.map(\.name) == ["a", "b", ""])
        #expect(rules?.map(\.prefix) == ["lab/", "x/", ""])
        #expect(rules?.map(\.expires) == [true, true, false])
        #expect(rules?.map(\.needsTags) == [false, true, false])
        #expect(rules?.last?.expiresNoncurrent == true && rules?.last?.abortsUploads == true)
    }

    @Test func `a bucket without any has none, and what cannot be seen is reported`() async throws {
        let none = try await lifecycle(404, errorBody("NoSuchLifecycleConfiguration"))
        #expect(none.rules == [])
        let denied = try await lifecycle(403, errorBody("AccessDenied"))
        #expect(denied.error?.code == .denied)
        #expect(denied.error?.message.contains("s3:GetLifecycleConfiguration") == true)
        let lacking = try await lifecycle(501, errorBody("NotImplemented"))
        #expect(lacking.error?.code == .misconfigured)
    }

    @Test func `a bucket says whether it keeps versions`() async throws {
        for (status, keeps) in [("Enabled", true), ("Suspended", false), ("", false)] {
            let stub = try await StubServer.start { _ in
                .reply(
                    200, [],
                    "<VersioningConfiguration>"
                        + (status.isEmpty ? "" : "<Status>\(status)</Status>")
                        + "</VersioningConfiguration>")
            }
            let found = try await withClient(of: stub) { try await $0.keepsVersions() }
            #expect(found == keeps)
        }
    }
}
