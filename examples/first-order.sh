#!/usr/bin/env bash
# Creates a first order with curl, from an empty shop to the activity log:
#
#     ADMIN_TOKEN=… examples/first-order.sh http://127.0.0.1:8080
#
# It creates its own shop, "first-curl", and deletes it at the end.
set -euo pipefail
url=${1:-http://127.0.0.1:8080}
admin="$url/admin/v1/shops/first-curl"
orders="$url/api/v1/purchase-orders"

operator() { curl -sS --fail-with-body -H "Authorization: Bearer ${ADMIN_TOKEN:?set it to the admin token}" "$@"; echo; }
buyer() { curl -sS --fail-with-body -H "Authorization: Bearer $key" "$@"; echo; }
# Prints the first string member of this name in the answer.
member() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

operator -X PUT "$admin" -d '{"name":"First Curl","currencyCode":"EUR"}'
key=$(operator "$admin/keys" -d '{"name":"story","scope":"write"}' | member apiKey)
operator "$admin/import" --data-binary @- <<'RECORDS'
{"type":"location","locationId":"main","name":"Main Street"}
{"type":"supplier","supplierId":"mill","name":"The Paper Mill","currencyCode":"EUR"}
{"type":"variant","variantId":"book-a5","productId":"book","productName":"Notebook","sku":"NB-A5"}
RECORDS

created=$(buyer "$orders" -d '{"supplierId":"mill","locationId":"main","lineItems":[{"variantId":"book-a5","quantityOrdered":3,"unitCost":19.99}]}')
order="$orders/$(member purchaseOrderId <<<"$created")"
buyer "$order/status" -d '{"status":"Sent"}'
buyer "$orders?status=Sent"
buyer "$order/log"
operator -X DELETE "$admin?confirm=first-curl"
