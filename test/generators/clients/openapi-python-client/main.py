"""The calls of the check in Python, with the client that openapi-python-client makes."""

import os

from openpo_client import AuthenticatedClient
from openpo_client.api.forecast_views import forecast_view_rows
from openpo_client.api.purchase_orders import (
    purchase_order_confirm,
    purchase_order_create,
    purchase_order_list,
    purchase_order_status,
)
from openpo_client.models import (
    CatalogueLineInput,
    ConfirmAll,
    ErrorAnswer,
    FieldDetail,
    ForecastViewRowsAnswer,
    PurchaseOrderConfirmAnswer,
    PurchaseOrderCreateAnswer,
    PurchaseOrderCreateBody,
    PurchaseOrderListAnswer,
    PurchaseOrderStatus,
    PurchaseOrderStatusAnswer,
    PurchaseOrderStatusBody,
)

EXACT = 1234.5678

client = AuthenticatedClient(base_url=os.environ["OPENPO_URL"], token=os.environ["OPENPO_API_KEY"])

listed = purchase_order_list.sync(
    client=client,
    status=[PurchaseOrderStatus.DRAFT, PurchaseOrderStatus.PARTIALLY_RECEIVED],
    date_from="2020-01-01",
)
assert isinstance(listed, PurchaseOrderListAnswer)
assert listed.data.total_count == 2

created = purchase_order_create.sync(
    client=client,
    body=PurchaseOrderCreateBody(
        supplier_id="mill",
        location_id="warehouse",
        line_items=[CatalogueLineInput(variant_id="red", quantity_ordered=2, unit_cost=EXACT)],
    ),
)
assert isinstance(created, PurchaseOrderCreateAnswer)
order = created.data.purchase_order
assert order.line_items[0].unit_cost == EXACT

sent = purchase_order_status.sync(
    order.purchase_order_id, client=client, body=PurchaseOrderStatusBody(status=PurchaseOrderStatus.SENT)
)
assert isinstance(sent, PurchaseOrderStatusAnswer)
assert sent.data.transition.to == PurchaseOrderStatus.SENT

confirmed = purchase_order_confirm.sync(order.purchase_order_id, client=client, body=ConfirmAll(confirm_all=True))
assert isinstance(confirmed, PurchaseOrderConfirmAnswer)
assert confirmed.data.purchase_order.status == PurchaseOrderStatus.IN_PROGRESS

refused = purchase_order_confirm.sync(order.purchase_order_id, client=client, body=ConfirmAll(confirm_all=False))
assert isinstance(refused, ErrorAnswer)
assert refused.error.code == "INVALID_INPUT"
assert refused.error.details
detail = refused.error.details[0]
assert isinstance(detail, FieldDetail)
assert detail.path == "/confirmAll"

forecast = forecast_view_rows.sync("view_1", client=client)
assert isinstance(forecast, ForecastViewRowsAnswer)
assert isinstance(forecast.data.rows[0]["onHand"], (int, float))

print("done")
