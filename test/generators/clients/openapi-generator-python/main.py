"""The calls of the check in Python, with the client that openapi-generator makes."""

import os

import openapi_client
from openapi_client.models import (
    CatalogueLineInput,
    ConfirmAll,
    ErrorAnswer,
    FieldDetail,
    PurchaseOrderConfirmBody,
    PurchaseOrderCreateBody,
    PurchaseOrderStatus,
    PurchaseOrderStatusBody,
)

EXACT = 1234.5678

configuration = openapi_client.Configuration(
    host=os.environ["OPENPO_URL"], access_token=os.environ["OPENPO_API_KEY"]
)
client = openapi_client.ApiClient(configuration)
orders = openapi_client.PurchaseOrdersApi(client)
forecasts = openapi_client.ForecastViewsApi(client)

listed = orders.purchase_order_list(
    status=[PurchaseOrderStatus.DRAFT, PurchaseOrderStatus.PARTIALLY_RECEIVED], date_from="2020-01-01"
)
assert listed.data.total_count == 2

line = CatalogueLineInput(variantId="red", quantityOrdered=2, unitCost=EXACT)
created = orders.purchase_order_create(
    purchase_order_create_body=PurchaseOrderCreateBody(supplierId="mill", locationId="warehouse", lineItems=[line])
)
order = created.data.purchase_order
assert order.line_items[0].unit_cost == EXACT

sent = orders.purchase_order_status(
    order.purchase_order_id, PurchaseOrderStatusBody(status=PurchaseOrderStatus.SENT)
)
assert sent.data.transition.to == PurchaseOrderStatus.SENT

confirmed = orders.purchase_order_confirm(
    order.purchase_order_id, PurchaseOrderConfirmBody(ConfirmAll(confirmAll=True))
)
assert confirmed.data.purchase_order.status == PurchaseOrderStatus.IN_PROGRESS

refused = None
try:
    orders.purchase_order_confirm(order.purchase_order_id, PurchaseOrderConfirmBody(ConfirmAll(confirmAll=False)))
except openapi_client.ApiException as exception:
    refused = exception.data
assert isinstance(refused, ErrorAnswer)
assert refused.error.code == "INVALID_INPUT"
assert refused.error.details
detail = refused.error.details[0].actual_instance
assert isinstance(detail, FieldDetail)
assert detail.path == "/confirmAll"

forecast = forecasts.forecast_view_rows("view_1")
assert isinstance(forecast.data.rows[0].additional_properties["onHand"], (int, float))

print("done")
