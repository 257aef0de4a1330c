#include "reactor/net/http1/exchange.h"

#include <utility>

#include "reactor/net/http1/connection.h"

namespace denselet::net {

HttpServerExchange::HttpServerExchange(Http1Connection& connection) : connection_(&connection) {
  connection_->exchange_ = this;
}

HttpServerExchange::HttpServerExchange(HttpServerExchange&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)) {
  if (connection_ != nullptr) connection_->exchange_ = this;
}

HttpServerExchange& HttpServerExchange::operator=(HttpServerExchange&& other) noexcept {
  if (this == &other) return *this;
  if (connection_ != nullptr) connection_->Abandon();
  connection_ = std::exchange(other.connection_, nullptr);
  if (connection_ != nullptr) connection_->exchange_ = this;
  return *this;
}

HttpServerExchange::~HttpServerExchange() {
  if (connection_ != nullptr) connection_->Abandon();
}

void HttpServerExchange::Use(HttpServerCall& call) {
  if (connection_ != nullptr) connection_->call_ = &call;
}

void HttpServerExchange::Respond(HttpResponseHead head, std::string_view body) {
  if (connection_ != nullptr) connection_->Respond(head, body);
}

void HttpServerExchange::Respond(int status, std::string_view content_type, std::string_view body) {
  if (connection_ != nullptr) connection_->Respond(status, content_type, body);
}

void HttpServerExchange::Begin(HttpResponseHead head) {
  if (connection_ != nullptr) connection_->BeginResponse(head);
}

void HttpServerExchange::Send(std::string_view part) {
  if (connection_ != nullptr) connection_->SendPart(part);
}

void HttpServerExchange::End() {
  if (connection_ != nullptr) connection_->EndParts();
}

size_t HttpServerExchange::unsent() const {
  return connection_ == nullptr ? 0 : connection_->unsent();
}

void HttpServerExchange::Hold() {
  if (connection_ != nullptr) connection_->HoldBody();
}

void HttpServerExchange::Resume() {
  if (connection_ != nullptr) connection_->ResumeBody();
}

std::unique_ptr<Stream> HttpServerExchange::Upgrade(Headers headers) {
  return connection_ == nullptr ? nullptr : connection_->Upgrade(headers);
}

void HttpServerExchange::Abort() {
  if (connection_ != nullptr) connection_->Abort();
}

}  // namespace denselet::net
