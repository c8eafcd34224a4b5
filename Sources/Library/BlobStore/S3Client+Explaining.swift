extension S3Client {
    /// Returns the final error of a request.
    func explained(
        _ failure: AttemptFailure, as code: BlobError.Code, _ request: S3Request,
        _ keys: Credentials?, _ tries: Int
    ) -> BlobError {
        let what = label(of: request) + (tries > 1 ? " failed \(tries) times" : " failed")
        switch failure {
        case .final(let error):
            guard code != error.code else { return error }
            return BlobError(
                code, "\(what): \(error.message) \(advice(code, request, nil))",
                storeCode: error.storeCode)
        case .local(let error):
            return BlobError(
                .local, "\(label(of: request)) ended because our own side failed: \(error)",
                underlying: error)
        case .senseless(let reason):
            return BlobError(
                code,
                "\(what): the answer is not valid for S3: \(reason). Is \(location.authority) an S3 "
                    + "store and no proxy or website?")
        case .transport(let failure):
            return BlobError(
                code,
                "\(what): \(location.authority) \(Self.sentence(for: failure)). \(advice(code, request, nil))"
            )
        case .refused(let refusal):
            let advice = advice(code, request, refusal)
            return BlobError(
                code,
                "\(what) for the access key \(keys?.accessKey ?? ""): the store answered "
                    + "\(refusal.sentence). \(advice)", storeCode: refusal.code)
        }
    }

    private static func sentence(for failure: TransportFailure) -> String {
        switch failure.kind {
        case .notConnected: "cannot be reached (\(failure.reason))"
        case .tls: "did not pass the TLS check (\(withoutSourceLocation(failure.reason)))"
        case .lost: "ended the connection (\(failure.reason))"
        case .silent: "was silent or too slow (\(failure.reason))"
        case .malformed: "sent what cannot be read (\(failure.reason))"
        case .cancelled: "was left, because the call was cancelled"
        }
    }

    /// Removes the source location from BoringSSL's message: ` at /path/file.cc:297`.
    private static func withoutSourceLocation(_ reason: String) -> String {
        reason.replacing(#/ at [^ \])]+:[0-9]+/#, with: "")
    }

    private func advice(
        _ code: BlobError.Code, _ request: S3Request, _ refusal: S3Refusal?
    ) -> String {
        switch code {
        case .notFound: return "There is no such object."
        case .precondition: return "Another client wrote it first: read it and decide again."
        case .changed: return "Another client replaced it while it was read: start again."
        case .denied:
            return switch refusal?.code {
            case "SignatureDoesNotMatch": "Check the secret key."
            case "InvalidAccessKeyId": "Check the access key."
            case "InvalidObjectState":
                "It is in an archive: restore it, then replay the job; minilab library check names rules that archive."
            default: "Its policy needs \(request.right)."
            }
        case .misconfigured: return misconfigured(refusal)
        case .throttled: return "It is asked for too much: fewer workers, or wait."
        case .unavailable: return "Check the endpoint and the network; it may pass."
        case .unknownFate: return "It may have been done: read before you judge."
        case .corrupt: return "Bytes are harmed on the way, twice: check memory and network."
        case .full: return "Make room, or raise the quota."
        case .invalid: return "The range must begin within the object."
        case .invalidURL, .invalidConfiguration, .noCredentials, .conditionsIgnored, .local,
            .cancelled:
            return ""
        }
    }

    private func misconfigured(_ refusal: S3Refusal?) -> String {
        guard let refusal else { return "Check https, the host's name and the CA file." }
        switch refusal.code {
        case "NoSuchBucket": return "Make the bucket \(configuration.url.bucket), or mend the URL."
        case "RequestTimeTooSkewed": return "Set this machine's clock."
        case "NotImplemented": return "This store cannot do what the library needs."
        default: break
        }
        if let region = refusal.region {
            return "The bucket is in \(region): write region=\(region) in the URL."
        }
        return "Check bucket, region, endpoint and encryption in the settings."
    }
}
