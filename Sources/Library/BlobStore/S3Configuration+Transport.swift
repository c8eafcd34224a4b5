import AsyncHTTPClient
import NIOCore
import NIOSSL

extension S3Configuration {
    /// Returns the configuration of AsyncHTTPClient: HTTP/1.1, no redirects, and no repeats of
    /// its own, because ``Attempts`` decides on those.
    func transport() throws(BlobError) -> HTTPClient.Configuration {
        var http = HTTPClient.Configuration()
        http.httpVersion = .http1Only
        http.redirectConfiguration = .disallow
        http.decompression = .disabled
        http.timeout = HTTPClient.Configuration.Timeout(
            connect: TimeAmount(connectTimeout), read: TimeAmount(silenceMax),
            write: TimeAmount(uploadSilenceMax))
        http.connectionPool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: TimeAmount(idleMax),
            concurrentHTTP1ConnectionsPerHostSoftLimit: requestsAtOnceMax)
        http.connectionPool.retryConnectionEstablishment = false
        http.tlsConfiguration = try tls()
        return http
    }

    private func tls() throws(BlobError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        guard let caCertificateFile else { return tls }
        do {
            tls.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMFile(caCertificateFile))
        } catch {
            throw BlobError(
                .invalidConfiguration,
                "The CA certificate file \(caCertificateFile) cannot be read as PEM (\(error)): "
                    + "check path, permissions and content.")
        }
        return tls
    }
}
