// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IERC20Transfer {
    function transfer(address to, uint256 value) external returns (bool);
    function balanceOf(address account) external view returns (uint256);
}

interface IDepositCollector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

/// @title The settlement contract of x402's scheme `batch-settlement`, as the sandbox needs it.
/// @notice Written from the scheme's specification (functions, events, errors, EIP-712 types) and from what the official clients
///         and facilitator send. Left out: signatures of contracts (ERC-1271) and the Permit2 collector.
/// @dev Made to be placed at the canonical address, as UsdcSandbox is: no constructor, no immutables, no initial storage.
contract BatchSettlement {
    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }

    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        uint128 totalClaimed;
    }

    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    uint40 public constant MIN_WITHDRAW_DELAY = 900;
    uint40 public constant MAX_WITHDRAW_DELAY = 2_592_000;

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 private constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 private constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 private constant ENTRY_TYPEHASH =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
    bytes32 private constant BATCH_TYPEHASH = keccak256(
        "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );
    uint256 private constant HIGHEST_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    mapping(bytes32 channelId => Channel) public channels;
    mapping(bytes32 channelId => Withdrawal) public pendingWithdrawals;
    mapping(bytes32 channelId => uint256) public refundNonce;
    mapping(address receiver => mapping(address token => Receiver)) public receivers;

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error InvalidChannel();
    error WithdrawDelayOutOfRange();
    error ZeroDeposit();
    error DepositCollectionFailed();
    error EmptyBatch();
    error NotReceiverAuthorizer();
    error InvalidSignature();
    error ClaimExceedsCeiling();
    error ClaimExceedsBalance();
    error NotPayer();
    error WithdrawalAlreadyPending();
    error NothingToWithdraw();
    error WithdrawDelayNotElapsed();
    error InvalidRefundNonce();

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata collectorData)
        external
    {
        if (
            config.payer == address(0) || config.receiver == address(0) || config.receiverAuthorizer == address(0)
                || config.token == address(0)
        ) revert InvalidChannel();
        if (config.withdrawDelay < MIN_WITHDRAW_DELAY || config.withdrawDelay > MAX_WITHDRAW_DELAY) {
            revert WithdrawDelayOutOfRange();
        }
        if (amount == 0) revert ZeroDeposit();
        bytes32 id = getChannelId(config);
        IERC20Transfer token = IERC20Transfer(config.token);
        uint256 before = token.balanceOf(address(this));
        IDepositCollector(collector).collect(config.payer, config.token, amount, id, collectorData);
        if (token.balanceOf(address(this)) != before + amount) revert DepositCollectionFailed();
        Channel storage channel = channels[id];
        if (channel.balance == channel.totalClaimed) emit ChannelCreated(id, config);
        channel.balance += amount;
        emit Deposited(id, msg.sender, amount, channel.balance);
    }

    function claim(VoucherClaim[] calldata claims) external {
        if (claims.length == 0) revert EmptyBatch();
        for (uint256 i = 0; i < claims.length; i++) {
            ChannelConfig calldata config = claims[i].voucher.channel;
            if (msg.sender != config.receiver && msg.sender != config.receiverAuthorizer) revert NotReceiverAuthorizer();
            _claim(claims[i]);
        }
    }

    /// @notice All rows are of one authorizer, who signed what is claimed of each.
    function claimWithSignature(VoucherClaim[] calldata claims, bytes calldata authorizerSignature) external {
        if (claims.length == 0) revert EmptyBatch();
        address authorizer = claims[0].voucher.channel.receiverAuthorizer;
        if (_recover(getClaimBatchDigest(claims), authorizerSignature) != authorizer) revert InvalidSignature();
        for (uint256 i = 0; i < claims.length; i++) {
            if (claims[i].voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
            _claim(claims[i]);
        }
    }

    /// @notice Pays out what was claimed for a receiver since the last time.
    function settle(address receiver, address token) external {
        Receiver storage own = receivers[receiver][token];
        uint128 amount = own.totalClaimed - own.totalSettled;
        if (amount == 0) return;
        own.totalSettled = own.totalClaimed;
        IERC20Transfer(token).transfer(receiver, amount);
        emit Settled(receiver, token, msg.sender, amount);
    }

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external {
        bytes32 id = _requirePayer(config);
        if (pendingWithdrawals[id].initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount == 0 || amount > _left(id)) revert NothingToWithdraw();
        pendingWithdrawals[id] = Withdrawal(amount, uint40(block.timestamp));
        emit WithdrawInitiated(id, amount, uint40(block.timestamp) + config.withdrawDelay);
    }

    /// @notice Pays the payer what he announced, or what is left by now when that is less.
    function finalizeWithdraw(ChannelConfig calldata config) external {
        bytes32 id = _requirePayer(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        if (pending.initiatedAt == 0) revert NothingToWithdraw();
        if (block.timestamp < pending.initiatedAt + config.withdrawDelay) revert WithdrawDelayNotElapsed();
        delete pendingWithdrawals[id];
        uint128 left = _left(id);
        uint128 amount = pending.amount < left ? pending.amount : left;
        _payBack(config, id, amount);
        emit WithdrawFinalized(id, msg.sender, amount);
    }

    function refund(ChannelConfig calldata config, uint128 amount) external {
        if (msg.sender != config.receiver && msg.sender != config.receiverAuthorizer) revert NotReceiverAuthorizer();
        _refund(config, getChannelId(config), amount);
    }

    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external {
        bytes32 id = getChannelId(config);
        if (nonce != refundNonce[id]) revert InvalidRefundNonce();
        if (_recover(getRefundDigest(id, nonce, amount), receiverAuthorizerSignature) != config.receiverAuthorizer) {
            revert InvalidSignature();
        }
        _refund(config, id, amount);
    }

    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            (bool success, bytes memory result) = address(this).delegatecall(data[i]);
            if (!success) {
                assembly ("memory-safe") {
                    revert(add(result, 0x20), mload(result))
                }
            }
            results[i] = result;
        }
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(CONFIG_TYPEHASH, config)));
    }

    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, maxClaimableAmount)));
    }

    function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(REFUND_TYPEHASH, channelId, nonce, amount)));
    }

    function getClaimBatchDigest(VoucherClaim[] calldata claims) public view returns (bytes32) {
        bytes memory entries;
        for (uint256 i = 0; i < claims.length; i++) {
            entries = bytes.concat(
                entries,
                keccak256(
                    abi.encode(
                        ENTRY_TYPEHASH,
                        getChannelId(claims[i].voucher.channel),
                        claims[i].voucher.maxClaimableAmount,
                        claims[i].totalClaimed
                    )
                )
            );
        }
        return _typed(keccak256(abi.encode(BATCH_TYPEHASH, keccak256(entries))));
    }

    /// @dev A row that says no more than what is recorded changes nothing: somebody else may have sent our claim first.
    function _claim(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        if (row.totalClaimed <= channel.totalClaimed) return;
        if (row.totalClaimed > row.voucher.maxClaimableAmount) revert ClaimExceedsCeiling();
        if (row.totalClaimed > channel.balance) revert ClaimExceedsBalance();
        bytes32 digest = getVoucherDigest(id, row.voucher.maxClaimableAmount);
        if (config.payerAuthorizer == address(0) || _recover(digest, row.signature) != config.payerAuthorizer) {
            revert InvalidSignature();
        }
        uint128 amount = row.totalClaimed - channel.totalClaimed;
        channel.totalClaimed = row.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += amount;
        emit Claimed(id, msg.sender, amount, row.totalClaimed);
        if (channel.balance == channel.totalClaimed) emit ChannelClosed(id, config);
    }

    /// @dev The nonce is used up even where nothing is left to pay back.
    function _refund(ChannelConfig calldata config, bytes32 id, uint128 amount) private {
        refundNonce[id]++;
        uint128 left = _left(id);
        if (amount > left) amount = left;
        if (amount == 0) return;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (pending.initiatedAt != 0) {
            if (pending.amount > left - amount) pending.amount = left - amount;
            if (pending.amount == 0) delete pendingWithdrawals[id];
        }
        _payBack(config, id, amount);
        emit Refunded(id, msg.sender, amount);
    }

    function _payBack(ChannelConfig calldata config, bytes32 id, uint128 amount) private {
        if (amount == 0) return;
        channels[id].balance -= amount;
        IERC20Transfer(config.token).transfer(config.payer, amount);
        if (channels[id].balance == channels[id].totalClaimed) emit ChannelClosed(id, config);
    }

    function _left(bytes32 id) private view returns (uint128) {
        return channels[id].balance - channels[id].totalClaimed;
    }

    function _requirePayer(ChannelConfig calldata config) private view returns (bytes32) {
        if (msg.sender != config.payer && msg.sender != config.payerAuthorizer) revert NotPayer();
        return getChannelId(config);
    }

    function _typed(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH,
                keccak256("x402 Batch Settlement"),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
        return keccak256(abi.encodePacked("\x19\x01", domain, structHash));
    }

    function _recover(bytes32 digest, bytes calldata signature) private pure returns (address) {
        if (signature.length != 65) revert InvalidSignature();
        bytes32 r = bytes32(signature[:32]);
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        if (uint256(s) > HIGHEST_S || (v != 27 && v != 28)) revert InvalidSignature();
        address signer = ecrecover(digest, v, r, s);
        if (signer == address(0)) revert InvalidSignature();
        return signer;
    }
}
